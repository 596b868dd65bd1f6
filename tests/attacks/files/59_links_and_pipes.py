"""Links, pipes and sockets: not followed, not opened."""

import os
import socket as sockets

from tests.attacks.handed_in import folder, submit


# A second name of one's own file: seen, and harmless.
@folder("the notebook has a second hard link", flags=("hard-link",))
def hard_link(folder, honest):
    os.link(submit(folder, honest), folder / "backup")


@folder("the folder is a symbolic link to the neighbor's", rejected="symbolic link")
def link_as_folder(folder, honest):
    folder.rmdir()
    folder.symlink_to(folder.parent.parent / "alice" / folder.name)


@folder("the notebook is a symbolic link to the neighbor's", rejected="symbolic link")
def link_as_notebook(folder, honest):
    neighbor = folder.parent.parent / "alice" / folder.name / f"{folder.name}.ipynb"
    (folder / neighbor.name).symlink_to(neighbor)


# nbgrader copies what such a link leads to into its own folder.
@folder("a symbolic link beside the notebook", rejected="symbolic link")
def link_beside(folder, honest):
    submit(folder, honest)
    (folder / "leak.txt").symlink_to("/etc/passwd")


@folder("a link to the folder above", rejected="symbolic link")
def link_loop(folder, honest):
    submit(folder, honest)
    (folder / "again").symlink_to(folder)


# Opening it would wait for ever.
@folder("the notebook is a named pipe", rejected="named pipe")
def pipe_as_notebook(folder, honest):
    os.mkfifo(folder / f"{folder.name}.ipynb")


@folder("a named pipe beside the notebook", rejected="named pipe")
def pipe_beside(folder, honest):
    submit(folder, honest)
    os.mkfifo(folder / "data.csv")


@folder("a socket beside the notebook", rejected="socket")
def socket(folder, honest):
    submit(folder, honest)
    here = os.open(folder, os.O_RDONLY)  # the path of a socket must be short
    with sockets.socket(sockets.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{here}/data.csv")
    os.close(here)
