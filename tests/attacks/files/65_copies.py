"""One submission twice."""

from tests.attacks.handed_in import flat, folder, submit


# One of several notebooks is graded, and the others are named.
@folder("two different copies in one folder", flags=("several-notebooks",))
def own_two_copies(folder, honest):
    submit(folder, honest)
    (folder / f"{folder.name} (1).ipynb").write_bytes(honest + b" ")


# Both are graded; the instructor is told, and judges.
@flat("one file under two names", flags=("identical",))
def two_names(folder, honest):
    (folder / "mallory.ipynb").write_bytes(honest)
