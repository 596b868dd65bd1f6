"""What a box is, seen from inside and outside, and what happens when it cannot be had."""

from __future__ import annotations

import os
import resource
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.records import Limits
from autograder.sandbox import Box, Tier, View
from autograder.sandbox.host import NO_NAMESPACES, nothing


def idle() -> None:
    return None


def test_a_program_in_a_box_stands_in_its_working_folder_as_an_ordinary_user(boxed: Any) -> None:
    def look() -> dict[str, Any]:
        return {
            "user": [os.getuid() == 0, os.getpid(), socket.gethostname()],
            "groups": os.getgroups(),
            "open files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
            "cwd": os.getcwd(),
            "folders": [os.environ[name] for name in ("HOME", "TMPDIR", "MPLCONFIGDIR", "IPYTHONDIR")],
            "variables": sorted(os.environ),
            "files": os.listdir("/"),
        }

    outcome = boxed(look)
    seen, private = outcome.result, Path(outcome.private)
    assert outcome.tier is Tier.FULL
    assert seen["cwd"] == str(private / "work")
    assert all(Path(folder).is_relative_to(private) for folder in seen["folders"])
    assert seen["user"] == [False, 1, "box"]
    assert "SECRET_TOKEN" not in seen["variables"]
    assert not set(seen["groups"]) & {0, *os.getgroups()}, "none of the grader's groups"
    assert seen["open files"] == Limits().open_files
    assert {"bin", "dev", "etc", "lib", "proc", "sys", "tmp", "usr"} <= set(seen["files"])
    assert not {"boot", "home", "mnt", "opt", "run", "srv"} & set(seen["files"])


def test_making_a_box_costs_little(boxed: Any) -> None:
    seconds = [boxed(idle) for _ in range(3)]
    # About 10 ms where this was written; the bound is for slow and busy machines.
    assert min(s.confine_cpu_s + s.supervisor_cpu_s for s in seconds) < 0.1


def test_what_the_boxs_user_may_not_read_stops_the_box_and_says_what_to_do(weaker: Any, course: Path) -> None:
    if weaker.who != "as_root":
        pytest.skip("only root's boxes have a user of their own")
    course.chmod(0o700)
    for without in ((), NO_NAMESPACES):
        outcome = weaker(idle, without=without, readable=(str(course),))
        assert outcome.raised == "SandboxUnavailable" and outcome.left == []
        assert f"{course} cannot be read by the box's user" in outcome.traceback
        assert "chmod o+rX" in outcome.traceback


def test_a_mechanism_that_fails_though_the_probe_found_it_is_an_error_not_a_weaker_box(
    weaker: Any, private: Path
) -> None:
    if weaker.who == "as_root":
        pytest.skip("root can make every namespace that is promised")
    # Nobody but root can make a process namespace without a user namespace.
    lying = replace(weaker.host, privileged=True)
    with pytest.raises(AssertionError, match=r"SandboxUnavailable.*namespaces"):
        replace(weaker, host=lying)(idle, private=str(private))


def test_a_box_that_never_started_can_be_cleaned(tmp_path: Path) -> None:
    box = Box(View(tmp_path, ()), Limits(), nothing("Darwin"))
    box.enter_namespaces()
    box.clean()
    box.clean()
    assert (tmp_path / "work").is_dir() and box.reached.tier is Tier.NONE
