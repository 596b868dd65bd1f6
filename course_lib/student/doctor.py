"""Is my set-up all right? Answered before anybody has to ask a person: Python, libraries, GPU, Colab, data.

torch and TensorFlow are looked up, and imported only on request, because that takes seconds. Whether a notebook is
fit to hand in is the question of `course_lib.student.handin`.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

from course_lib.student.findings import Finding, Level

NEEDED = {"numpy": (1, 26), "matplotlib": (3, 8)}
WANTED = {"torch": "the lectures from 02 on", "tensorflow": "the lectures from 10 on"}


def environment(*, imports: bool = False) -> list[Finding]:
    """The set-up, a line each. `imports`: also import torch and TensorFlow, each in a process of its own."""
    findings = [_python()]
    findings += [_needed(name, least) for name, least in NEEDED.items()]
    findings += [_wanted(name, use, imports) for name, use in WANTED.items()]
    return [*findings, _gpu(), _colab(), *_data()]


def one_line(findings: Sequence[Finding] | None = None) -> str:
    """All of it in one line, to read or to send to somebody: what is there, and what to mend first."""
    findings = environment() if findings is None else findings
    there = [f"{f.subject} {f.text.partition(' (')[0]}" for f in findings if f.level is Level.OK]
    listed = ", ".join(text.partition(";")[0] for text in there if not text.startswith(("data", "Colab no")))
    stop = [f for f in findings if f.level is Level.STOP]
    look = [f for f in findings if f.level is Level.LOOK]
    for word, wrong in (("Mend first", stop), ("Worth a look", look)):
        if wrong:
            return f"{listed}. {word}: {wrong[0].subject}: {wrong[0].text}"
    return f"{listed}. All set."


def _python(version: tuple[int, ...] = tuple(sys.version_info[:3])) -> Finding:
    text = ".".join(map(str, version))
    if version < (3, 11):
        return Finding(Level.STOP, "Python", f"{text}; the course needs 3.11 or later. Install it and set up again.")
    return Finding(Level.OK, "Python", text)


def _version(name: str) -> str | None:
    """The installed version, or None. Looks at the metadata and imports nothing."""
    # TensorFlow is also shipped under names like tensorflow-cpu, so the module counts, not the distribution.
    if importlib.util.find_spec(name) is None:
        return None
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "version unknown"


def _needed(name: str, least: tuple[int, ...]) -> Finding:
    version = _version(name)
    wanted = ".".join(map(str, least))
    if version is None:
        return Finding(Level.STOP, name, f"not found. Install it: pip install '{name}>={wanted}'")
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers and numbers < least:
        return Finding(Level.STOP, name, f"{version}; the course needs {wanted}: pip install -U '{name}>={wanted}'")
    return Finding(Level.OK, name, version)


def _wanted(name: str, use: str, imports: bool) -> Finding:
    version = _version(name)
    if version is None:
        return Finding(Level.LOOK, name, f"not found; {use} need it: pip install {name} (Colab has it)")
    if not imports:
        return Finding(Level.OK, name, f"{version} (not imported; --imports tries it)")
    return _tried(name, version)


def _tried(name: str, version: str, limit_s: float = 120.0) -> Finding:
    """Import it in a fresh process: an import can crash, and this table should still appear."""
    gpu = {
        "torch": "m.cuda.is_available() and m.cuda.get_device_name(0)",
        "tensorflow": "[d.name for d in m.config.list_physical_devices('GPU')]",
    }.get(name, "None")
    program = f"import {name} as m; print(m.__version__, '| GPU:', ({gpu}) or 'none')"
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return Finding(
            Level.STOP, name, f"{version}, but importing it takes over {limit_s:.0f} s. Try again; then reinstall."
        )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return Finding(Level.STOP, name, f"{version}, but it does not import: {reason}. Reinstall it.")
    return Finding(Level.OK, name, f"imports: {done.stdout.strip().splitlines()[-1]}")


def _gpu(which: Callable[[str], str | None] = shutil.which) -> Finding:
    command = which("nvidia-smi")
    names = ""
    if command:
        query = [command, "--query-gpu=name", "--format=csv,noheader"]
        try:
            names = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return Finding(
                Level.LOOK, "GPU", "a driver is installed, but nvidia-smi fails. Restart the runtime or the machine."
            )
    if names:
        return Finding(Level.OK, "GPU", ", ".join(names.splitlines()))
    return Finding(Level.OK, "GPU", "none; every lecture and assignment also runs without one")


def _colab() -> Finding:
    inside = importlib.util.find_spec("google") is not None and importlib.util.find_spec("google.colab") is not None
    return Finding(Level.OK, "Colab", "yes" if inside else "no")


def _data() -> Iterator[Finding]:
    """Load every bundled data set: the loaders check sizes and checksums."""
    from course_lib import data

    for loader in sorted(name for name in data.__all__ if name.startswith("load_")):
        try:
            getattr(data, loader)()
        except data.BadDataFile as error:
            yield Finding(Level.STOP, "data", str(error))
        else:
            yield Finding(Level.OK, "data", f"{loader}: intact")
    try:
        data.photo_records()
    except data.BadDataFile as error:
        yield Finding(Level.STOP, "data", str(error))
    else:
        yield Finding(Level.OK, "data", "photo_records: intact")
