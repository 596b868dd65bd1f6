"""Folders and archives whose paths lead elsewhere, or that hold more than anybody hands in."""

import io
import stat
import zipfile

from tests.attacks.handed_in import archive, folder


@folder("a notebook sixty folders down", rejected="folders deep")
def deep_folders(folder, honest):
    """Folders in folders in folders."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    deep = folder.joinpath(*"d" * 60)
    deep.mkdir(parents=True)
    (deep / "deep.ipynb").write_bytes(honest)


@folder("thousands of files in one folder", rejected="files")
def many_files(folder, honest):
    """More files than anybody hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    for number in range(2_100):
        (folder / str(number)).touch()


@archive("an absolute path in a zip", rejected="leads out of the zip")
def zip_absolute(archive, honest, assignment):
    """Unpacked, it would replace a file of the system."""
    archive.writestr("/etc/evil.ipynb", honest)


@archive("..\\ in a zip", rejected="leads out of the zip")
def zip_backslashes(archive, honest, assignment):
    """The same in the other system's spelling."""
    archive.writestr(f"..\\\\alice\\\\{assignment}\\\\{assignment}.ipynb", honest)


@archive("a small entry that unpacks to 300 MiB", rejected="MiB")
def zip_bomb(archive, honest, assignment):
    """300 MiB of blanks in 300 KiB."""
    with archive.open(f"mallory/{assignment}/{assignment}.ipynb", "w") as entry:
        for _ in range(300):
            entry.write(b" " * (1 << 20))


@archive("packed with bzip2", rejected="deflate")
def zip_bzip2(archive, honest, assignment):
    """Cannot be unpacked piece by piece, and so not within limits."""
    archive.writestr(f"mallory/{assignment}/{assignment}.ipynb", honest, zipfile.ZIP_BZIP2)


@archive("students whose names differ in case alone", flags=("renamed-student",))
def zip_case_clash(archive, honest, assignment):
    """On many systems these are one folder."""
    for number, student in enumerate(("Mallory", "mallory", "MALLORY")):
        archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest + b" " * number)


@archive("a zip instead of the notebook, inside the class's zip", rejected="No notebook")
def zip_in_zip(archive, honest, assignment):
    """A zip inside is not unpacked."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as packed:
        packed.writestr(f"{assignment}.ipynb", honest)
    archive.writestr(f"mallory/{assignment}/{assignment}.zip", inner.getvalue())


@archive("a symbolic link in a zip", rejected="symbolic link")
def zip_link(archive, honest, assignment):
    """Unpacked, a later entry would be written through it."""
    link = zipfile.ZipInfo(f"mallory/{assignment}/{assignment}.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(link, "/etc/passwd")


@archive("thousands of entries in one submission", rejected="files")
def zip_many_files(archive, honest, assignment):
    """More files than anybody hands in."""
    archive.writestr(f"mallory/{assignment}/{assignment}.ipynb", honest)
    for number in range(5_000):
        archive.writestr(f"mallory/{assignment}/{number}", b"")


@archive("folders called -rf, a line break, a Windows device", flags=("renamed-student",))
def zip_nasty_names(archive, honest, assignment):
    """Names that file systems and shells take for something else."""
    for number, student in enumerate(("-rf", "a\nb", 'a"b', "con", "x" * 250)):
        archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest + b" " * number)


@archive("a path that leads back to alice's folder", rejected="leads out of the zip")
def zip_over_neighbor(archive, honest, assignment):
    """An entry that aims at the neighbor's file."""
    archive.writestr(f"mallory/../alice/{assignment}/{assignment}.ipynb", b"{}")


@archive("a path with .. in a zip", rejected="leads out of the zip")
def zip_slip(archive, honest, assignment):
    """Unpacked, it would lie outside."""
    archive.writestr(f"mallory/{assignment}/../../../../evil.ipynb", honest)
