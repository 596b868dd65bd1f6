"""Where control groups can be made, read from the two files in which Linux says so; and what a group does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from autograder.sandbox import cgroups, probe
from autograder.sandbox.cgroups import Base, Group, sweep

MIB = 1 << 20


def test_a_version_1_group_is_found_in_each_hierarchy() -> None:
    groups = "9:name=systemd:/\n8:pids:/\n4:memory:/jobs/7\n1:cpu,cpuacct:/\n0::/\n"
    mounts = (
        "30 29 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "31 29 0:27 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
        "32 29 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
    )
    assert list(cgroups._version_1(groups, mounts)) == [Base(1, "/sys/fs/cgroup/memory/jobs/7", "/sys/fs/cgroup/pids")]


def test_a_container_that_sees_part_of_the_hierarchy_uses_the_part() -> None:
    groups = "4:memory:/docker/abc\n"
    mounts = "30 29 0:26 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    assert list(cgroups._version_1(groups, mounts)) == [Base(1, "/sys/fs/cgroup/memory", "")]


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
