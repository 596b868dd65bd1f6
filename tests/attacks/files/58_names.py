"""Other names of the notebook: found by what is inside, and told."""

from tests.attacks.handed_in import folder


@folder("name (1).ipynb", flags=("renamed",))
def browser_copy(folder, honest):
    """What a browser calls a second download."""
    (folder / f"{folder.name} (1).ipynb").write_bytes(honest)


@folder("Copy of name", flags=("renamed",))
def copy_of(folder, honest):
    """What Google Drive calls a copy."""
    (folder / f"Copy of {folder.name}.ipynb").write_bytes(honest)


@folder("a name that breaks lines", flags=("renamed",))
def hostile_name(folder, honest):
    """A line break, quotes and a bidirectional override in the name."""
    (folder / f"a\n'\"\u202e{folder.name}.ipynb").write_bytes(honest)


@folder("name.ipynb.txt", flags=("renamed",))
def saved_as_text(folder, honest):
    """What some browsers make of an unknown type."""
    (folder / f"{folder.name}.ipynb.txt").write_bytes(honest)


@folder("Untitled.ipynb", flags=("renamed",))
def untitled(folder, honest):
    """A name that says nothing: known by what is inside."""
    (folder / "Untitled.ipynb").write_bytes(honest)


@folder("NAME.IPYNB", flags=("renamed",))
def upper_case(folder, honest):
    """Another case, another ending."""
    (folder / f"{folder.name.upper()}.IPYNB").write_bytes(honest)
