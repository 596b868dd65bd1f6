"""The same holds for the other five: a wrong diagnosis of script 4."""

from autograder.bank import Wrong

BASES = {"in_a_tuple": 'diagnosis_4 = ("split-at-random", "axis-confused")'}

WRONG = [
    Wrong("wrong_diagnosis_of_the_forecast", "A neighbor's diagnosis.")
    .expect(test_script_4="partial:diagnosis-wrong")
    .breaks("The same holds for the other five")
    .edit("split-at-random", "target-in-input"),
    Wrong("wrong_diagnosis_what_follows", "The scale holds test rows, too, because these come from everywhere.")
    .expect(test_script_4="partial:diagnosis-wrong")
    .breaks("The same holds for the other five")
    .edit('"axis-confused"', '"axis-confused", "statistics-from-test"'),
]
