"""One submission twice."""

from tests.attacks.handed_in import flat, folder


@folder("two different copies in one folder", flags=("several-notebooks",))
def own_two_copies(folder, honest):
    """One of several notebooks is graded, and the others are named."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / f"{folder.name} (1).ipynb").write_bytes(honest + b" ")


@flat("one file under two names", flags=("identical",))
def two_names(folder, honest):
    """Both are graded; the instructor is told, and judges."""
    (folder / "mallory.ipynb").write_bytes(honest)
