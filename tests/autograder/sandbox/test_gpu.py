"""The tier of `--device cuda`: which files a box shows for it. No GPU is needed; /dev/fuse stands in for its device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.errors import KernelFailed
from autograder.kernels.supervisor import LaunchRequest, view_for
from autograder.records import CUDA, VIRTUAL_CUDA, Limits
from autograder.sandbox import Box, Tier, View, gpu
from autograder.sandbox.host import MEMORY_GROUP, NO_NAMESPACES
from tests.autograder.sandbox.test_description import host_of

STAND_IN = Path("/dev/fuse")


@pytest.mark.parametrize(
    ("nodes", "shown", "gpus"),
    [
        ("nvidia0 nvidia1 nvidiactl nvidia-uvm nvidia-uvm-tools null", "nvidia-uvm nvidia0 nvidia1 nvidiactl", 2),
        ("dxg null", "dxg", 1),
        ("null kmsg", "", 0),
    ],
    ids=["driver", "wsl", "none"],
)  # fmt: skip
def test_a_gpus_device_files_are_found_and_no_others(tmp_path: Path, nodes: str, shown: str, gpus: int) -> None:
    for name in nodes.split():
        (tmp_path / name).touch()
    assert [path.name for path in gpu.device_files(tmp_path)] == shown.split()
    assert gpu.count(tmp_path) == gpus


def test_a_box_opens_the_device_it_was_given_and_its_tier_says_so(boxed: Any) -> None:
    if not STAND_IN.exists():
        pytest.skip(f"this host has no {STAND_IN} to stand in for a GPU")

    def look(device: str) -> str:
        try:
            open(device, "r+b", buffering=0).close()
        except OSError as error:
            return type(error).__name__
        return "opened"

    assert (one := boxed(look, device=str(STAND_IN))).result == "FileNotFoundError" and one.tier is Tier.FULL
    given = boxed(look, device=str(STAND_IN), devices=[str(STAND_IN)])
    assert given.result == "opened" and given.tier is Tier.GPU


@pytest.mark.parametrize(("lacking", "tier"), [((), Tier.GPU), (NO_NAMESPACES, Tier.FILES)], ids=["strong", "weak"])
def test_a_gpu_raises_no_hosts_tier_and_the_memory_of_a_watched_one_is_still_told(
    lacking: tuple[str, ...], tier: Tier
) -> None:
    host = host_of(Tier.FULL).without(*lacking, MEMORY_GROUP)
    reached = Box(View(Path("/var/tmp/box"), (), devices=(Path("/dev/nvidia0"),)), Limits(), host).reached
    assert reached.tier is tier and reached.sentence.startswith(tier.sentence)
    assert ("memory is watched" in reached.sentence) is (tier is Tier.GPU)


@pytest.mark.parametrize("device", [CUDA, VIRTUAL_CUDA])
def test_only_a_kernel_for_the_gpu_sees_it(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    nodes = (Path("/dev/nvidia0"), Path("/dev/nvidiactl"))
    monkeypatch.setattr(gpu, "device_files", lambda: nodes)
    request = LaunchRequest(Path("/var/tmp/box"), Path("/var/tmp/box/c.json"), Limits(), device=device)
    assert view_for(request).devices == (nodes if device == CUDA else ())


def test_a_kernel_for_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "device_files", tuple)
    with pytest.raises(KernelFailed, match="no device file of an NVIDIA GPU"):
        view_for(LaunchRequest(Path("/var/tmp/box"), Path("/var/tmp/box/c.json"), Limits(), device=CUDA))
