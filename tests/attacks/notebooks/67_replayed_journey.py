"""Take no snapshot and restore nothing: repeat the states that the first journey showed, from a patched `state_of`.

The first journey is made in the student's process before the second, so the right answers are there to be repeated.
"""

ENTRY, FAMILY, ASSIGNMENT = 67, "E", "a4_modules_and_optimisers"
EXPECTED = {"test_snapshot": "failed"}
CELLS = {
    "snapshot": """
from course_lib.checks import a4_modules_and_optimisers as helpers

looked = helpers.state_of
diary = []
place = None


def state_of(model):
    global place
    if place is None or place >= len(diary):
        place = None
        diary.append(looked(model))
        return diary[-1]
    place += 1
    return diary[place - 1]


def snapshot(model, optimizer):
    global place
    place = None
    diary.clear()
    return {}


def restore(model, optimizer, saved):
    global place
    place = 0


helpers.state_of = state_of
""",
}
