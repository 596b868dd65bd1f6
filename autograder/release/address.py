"""The public address of the student repository: one key in `pyproject.toml`, and the links that are made from it.

Badges and set-up cells cannot read that key where a student opens a notebook alone, so they repeat the address;
`set_repository` changes all of them at once.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from autograder.errors import WrongUse

PLACEHOLDER = "OWNER/"
REPEATED = ("pyproject.toml", "README.md", "CITATION.cff", "notebooks/**/*.ipynb", "notebooks/**/*.md")
"""files that may repeat the address, as patterns below the course's root"""


def repository_of(root: Path) -> str:
    """`OWNER/NAME` of the course at `root` on GitHub, from `tool.course.repository`; empty where none is named."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project.get("tool", {}).get("course", {}).get("repository", ""))


def set_repository(root: Path, address: str) -> list[Path]:
    """Write the `address`, `OWNER/NAME`, wherever the course at `root` has its present one; the files that changed.

    Raises WrongUse where the address is not of this form, or where the course names none yet.
    """
    if not re.fullmatch(r"[A-Za-z0-9-]+/[\w.-]+", address) or address.startswith(PLACEHOLDER):
        raise WrongUse(f"{address}: is not the address of a repository; name it as OWNER/NAME, such as ada/frameworks.")
    present = repository_of(root)
    if not present:
        raise WrongUse(f"{root / 'pyproject.toml'}: [tool.course] names no repository to replace.")
    # Not inside a longer name: ada/course is no part of ada/course-2026.
    stands = re.compile(rf"(?<![\w.-]){re.escape(present)}(?![\w-]|\.(?!git\b)\w)")
    changed = []
    for path in sorted(path for pattern in REPEATED for path in root.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        if (new := stands.sub(address, text)) != text:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed


def refuse_placeholder(root: Path) -> None:
    """Raise WrongUse while the course at `root` has no address of its own: every badge would lead nowhere."""
    if (root / "pyproject.toml").is_file() and (present := repository_of(root)).startswith(PLACEHOLDER):
        raise WrongUse(
            f"{present}: is a placeholder, so that every badge and set-up cell would lead nowhere. Set the address of "
            "your student repository first: `autograder release --repository NAME/REPOSITORY`."
        )
