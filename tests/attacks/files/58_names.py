"""Other names of the notebook: found by what is inside, and told."""

from tests.attacks.handed_in import folder


def called(pattern):
    return lambda folder, honest: (folder / pattern(folder.name)).write_bytes(honest)


# What a browser calls a second download, Google Drive a copy, and some browsers a file of unknown type.
browser_copy = folder("name (1).ipynb", flags=("renamed",))(called("{} (1).ipynb".format))
copy_of = folder("Copy of name", flags=("renamed",))(called("Copy of {}.ipynb".format))
saved_as_text = folder("name.ipynb.txt", flags=("renamed",))(called("{}.ipynb.txt".format))
untitled = folder("Untitled.ipynb", flags=("renamed",))(called("Untitled.ipynb".format))
upper_case = folder("NAME.IPYNB", flags=("renamed",))(called(lambda name: f"{name.upper()}.IPYNB"))
# A line break, quotes and a bidirectional override.
hostile_name = folder("a name that breaks lines", flags=("renamed",))(called("a\n'\"\u202e{}.ipynb".format))
