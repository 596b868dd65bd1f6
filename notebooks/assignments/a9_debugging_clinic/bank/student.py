"""Identifiers that say nothing, and that of somebody else."""

from autograder.bank import Wrong

NOBODY = {f"test_script_{k}": "partial" for k in range(1, 7)}

WRONG = [
    Wrong("wrong_neighbor", "Scripts and diagnoses of somebody else, under one's own identifier.")
    .expect(
        test_script_1="partial:script-rewritten",
        test_script_2="partial:diagnosis-incomplete",
        test_script_3="partial:diagnosis-wrong",
        test_script_4="partial:diagnosis-wrong",
        test_script_5="partial:diagnosis-wrong",
        test_script_6="partial:diagnosis-wrong",
    )
    .breaks("The first cell of yours holds your identifier")
    .whole('student = "mkowalski"'),
    Wrong("wrong_nobody", "The identifier is empty.")
    .expect(**NOBODY)
    .breaks("Write it as one line")
    .whole('student = ""'),
]
