"""Wrong diagnoses, and an identifier that is missing."""

from autograder.bank import Wrong

BASES = {
    "in_a_list": 'diagnosis_1 = [\n    "evaluates-in-training-mode",  # it jumps\n    "softmax-twice",\n]',
}

WRONG = [
    Wrong("wrong_diagnosis_one_of_two", "One of two faults is missing.")
    .expect(test_script_1="partial:diagnosis-incomplete")
    .breaks("It names every fault that script 1 was handed out with")
    .edit('    "softmax-twice",\n', ""),
    Wrong("wrong_diagnosis_one_too_many", "A third code that is no fault of this script.")
    .expect(test_script_1="partial:diagnosis-wrong")
    .edit('    "softmax-twice",\n', '    "softmax-twice",\n    "mean-of-means",\n'),
    Wrong("wrong_diagnosis_in_words", "A sentence, not codes.")
    .expect(test_script_1="partial:diagnosis-not-in-the-catalog")
    .breaks("of codes from the table below")
    .whole('diagnosis_1 = {"There is a softmax too many."}'),
    Wrong("wrong_diagnosis_misspelled", "One of the codes is written in another way.")
    .expect(test_script_1="partial:diagnosis-not-in-the-catalog")
    .edit("softmax-twice", "softmax_twice"),
    Wrong("wrong_diagnosis_empty", "An empty set.")
    .expect(test_script_1="partial:diagnosis-not-given")
    .whole("diagnosis_1 = set()"),
    Wrong("wrong_diagnosis_untouched", "The script is mended, and the cell for the diagnosis is as it was received.")
    .expect(test_script_1="partial:script-or-diagnosis-untouched")
    .base("stub"),
]
