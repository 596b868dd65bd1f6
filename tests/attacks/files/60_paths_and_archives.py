"""Folders and archives whose paths lead elsewhere, or that hold more than anybody hands in."""

import io
import stat
import zipfile

from tests.attacks.handed_in import archive, folder, submit


@folder("a notebook sixty folders down", rejected="folders deep")
def deep_folders(folder, honest):
    deep = submit(folder, honest).parent.joinpath(*"d" * 60)
    deep.mkdir(parents=True)
    (deep / "deep.ipynb").write_bytes(honest)


@folder("thousands of files in one folder", rejected="files")
def many_files(folder, honest):
    submit(folder, honest)
    for number in range(2_100):
        (folder / str(number)).touch()


def entry(pattern, content=None):
    """An entry at a path, `{a}` being the assignment."""
    return lambda archive, honest, assignment: archive.writestr(
        pattern.format(a=assignment), honest if content is None else content
    )


OUT = "leads out of the zip"
zip_absolute = archive("an absolute path in a zip", rejected=OUT)(entry("/etc/evil.ipynb"))
zip_backslashes = archive("..\\ in a zip", rejected=OUT)(entry("..\\\\alice\\\\{a}\\\\{a}.ipynb"))
zip_slip = archive("a path with .. in a zip", rejected=OUT)(entry("mallory/{a}/../../../../evil.ipynb"))
zip_over_neighbor = archive("a path that leads back to alice's folder", rejected=OUT)(
    entry("mallory/../alice/{a}/{a}.ipynb", b"{}")
)


# 300 MiB of blanks in 300 KiB.
@archive("a small entry that unpacks to 300 MiB", rejected="MiB")
def zip_bomb(archive, honest, assignment):
    with archive.open(f"mallory/{assignment}/{assignment}.ipynb", "w") as entry:
        for _ in range(300):
            entry.write(b" " * (1 << 20))


# Cannot be unpacked piece by piece, and so not within limits.
@archive("packed with bzip2", rejected="deflate")
def zip_bzip2(archive, honest, assignment):
    archive.writestr(f"mallory/{assignment}/{assignment}.ipynb", honest, zipfile.ZIP_BZIP2)


def students(*names):
    def add(archive, honest, assignment):
        for number, student in enumerate(names):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest + b" " * number)

    return add


zip_case_clash = archive("students whose names differ in case alone")(students("Mallory", "mallory", "MALLORY"))
zip_same_names = archive("names that become one another's", flags=("renamed-student",))(students("m:y", "m*y", "m|y"))
zip_nasty_names = archive("folders called -rf, a line break, a Windows device", flags=("renamed-student",))(
    students("-rf", "a\nb", 'a"b', "con", "x" * 250)
)


# A student's own zip is looked into, a zip inside that is not.
@archive("a zip in a zip instead of the notebook, inside the class's zip", rejected="No notebook")
def zip_in_zip(archive, honest, assignment):
    innermost, inner = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(innermost, "w") as packed:
        packed.writestr(f"{assignment}.ipynb", honest)
    with zipfile.ZipFile(inner, "w") as packed:
        packed.writestr(f"{assignment}.zip", innermost.getvalue())
    archive.writestr(f"mallory/{assignment}/{assignment}.zip", inner.getvalue())


# Unpacked, a later entry would be written through it.
@archive("a symbolic link in a zip", rejected="symbolic link")
def zip_link(archive, honest, assignment):
    link = zipfile.ZipInfo(f"mallory/{assignment}/{assignment}.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(link, "/etc/passwd")


@archive("thousands of entries in one submission", rejected="files")
def zip_many_files(archive, honest, assignment):
    archive.writestr(f"mallory/{assignment}/{assignment}.ipynb", honest)
    for number in range(5_000):
        archive.writestr(f"mallory/{assignment}/{number}", b"")
