"""Identifiers that say nothing, and that of somebody else."""

from autograder.bank import Wrong

NOBODY = {f"test_script_{k}": "partial" for k in range(1, 7)}

WRONG = [
    Wrong("wrong_nobody", "The identifier is empty.")
    .expect(**NOBODY)
    .breaks("Write it as one line")
    .whole('student = ""'),
]
