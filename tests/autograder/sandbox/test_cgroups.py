"""Where control groups can be made, read from the two files in which Linux says so; and what a group does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from autograder.sandbox import cgroups, probe
from autograder.sandbox.cgroups import Base, Group, sweep

MIB = 1 << 20


CGROUP = "/sys/fs/cgroup"
HIERARCHIES = (
    f"30 29 0:26 / {CGROUP}/memory rw,relatime - cgroup cgroup rw,memory\n"
    f"31 29 0:27 / {CGROUP}/pids rw,relatime - cgroup cgroup rw,pids\n"
    f"32 29 0:28 / {CGROUP}/unified rw,relatime - cgroup2 cgroup2 rw\n"
)
ALL = "9:name=systemd:/\n8:pids:/\n4:memory:/jobs/7\n1:cpu,cpuacct:/\n0::/\n"
# A container sees part of the hierarchy, and uses that.
PART = f"30 29 0:26 /docker/abc {CGROUP}/memory rw - cgroup cgroup rw,memory\n"


@pytest.mark.parametrize(
    ("groups", "mounts", "memory", "pids"),
    [
        (ALL, HIERARCHIES, f"{CGROUP}/memory/jobs/7", f"{CGROUP}/pids"),
        ("4:memory:/docker/abc\n", PART, f"{CGROUP}/memory", ""),
    ],
    ids=["whole", "part"],
)
def test_a_version_1_group_is_found_in_each_hierarchy(groups: str, mounts: str, memory: str, pids: str) -> None:
    assert list(cgroups._version_1(groups, mounts)) == [Base(1, memory, pids)]


def test_a_version_2_group_is_made_beside_this_process_where_the_parent_shares_its_controls(tmp_path: Path) -> None:
    own = tmp_path / "user.slice" / "app.scope"
    own.mkdir(parents=True)
    (own / "cgroup.subtree_control").write_text("\n")
    (own.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    mounts = f"32 29 0:28 / {tmp_path} rw,relatime - cgroup2 cgroup2 rw\n"
    found = list(cgroups._version_2("0::/user.slice/app.scope\n", mounts))
    assert found == [Base(2, str(own.parent), str(own.parent))]


def test_a_group_counts_what_joins_it_and_is_removed_with_it() -> None:
    base = probe().groups
    if not base.memory:
        pytest.skip("this user cannot make a memory control group on this host")
    group = Group(base, 64 * MIB, 16)
    folder = group.memory_folder
    assert folder is not None
    try:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            group.join()
            block = b"x" * (20 * MIB)
            os.write(writer, block[:1])
            os.read(os.pipe()[0], 1)
        os.read(reader, 1)
        assert 20 * MIB <= group.memory() < 30 * MIB
        assert not group.out_of_memory()
    finally:
        group.remove()
        os.waitpid(child, 0)
    assert not folder.exists()


def test_a_version_2_group_is_spoken_to_by_its_files(tmp_path: Path) -> None:
    group = Group(Base(2, str(tmp_path), str(tmp_path)), 64 * MIB, 16)
    folder = group.memory_folder
    assert folder is not None and folder == group.pids_folder
    assert (folder / "memory.max").read_text() == str(64 * MIB)
    assert (folder / "pids.max").read_text() == "16"
    (folder / "memory.stat").write_text("anon 1000\nfile 9999\nshmem 24\nanon_thp 5\n")
    assert group.memory() == 1024, "file cache is not counted"
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 0\noom_group_kill 0\n")
    assert not group.out_of_memory()
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 2\noom_group_kill 0\n")
    assert group.out_of_memory()
    group.join()
    assert (folder / "cgroup.procs").read_text() == "0"
    (folder / "cgroup.kill").touch()
    group.kill()
    assert (folder / "cgroup.kill").read_text() == "1"


def test_groups_of_supervisors_that_are_gone_are_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    stale, live = tmp_path / f"autograder-{gone.pid}-0", tmp_path / f"autograder-{os.getpid()}-0"
    other = tmp_path / "somebody-else"
    for folder in (stale, live, other):
        folder.mkdir()
    sweep(Base(2, str(tmp_path), str(tmp_path)))
    assert sorted(p.name for p in tmp_path.iterdir()) == [live.name, other.name]
