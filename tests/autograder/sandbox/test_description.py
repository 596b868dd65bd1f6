"""The doctor's words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.sandbox import Host, Tier, describe_host, host
from autograder.sandbox.host import NO_NAMESPACES, nothing
from autograder.sandbox.tier import PROMISES

ROOT = Path(__file__).resolve().parents[3]


def host_of(tier: Tier) -> Host:
    """A host of Linux that reaches this tier, or another system."""
    if tier is Tier.NONE:
        return nothing("Darwin")
    everything = tuple(replace(m, available=True, means="", step="") for m in nothing("Linux").mechanisms)
    lacking = {Tier.FULL: (), Tier.FILES: NO_NAMESPACES, Tier.LIMITS: (*NO_NAMESPACES, host.LANDLOCK)}
    return Host("Linux", True, True, everything, 7).without(*lacking[tier])


def test_the_document_and_the_code_promise_the_same_at_each_tier() -> None:
    """A cell of the table in docs/security.md begins with `yes` where the promise holds, and nowhere else."""
    section = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition("## The tiers")[2]
    table = section.strip().partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    head, _, _, *promises = rows
    assert head[1:] == [tier.name.lower() for tier in Tier]
    held = {text: [tier for tier, cell in zip(Tier, cells, strict=True) if cell.startswith("yes")]
            for text, *cells in promises}  # fmt: skip
    assert held == {one.text: [tier for tier in Tier if tier >= one.lowest] for one in PROMISES}


@pytest.mark.parametrize("tier", [t for t in Tier if t is not Tier.GPU], ids=lambda tier: tier.name.lower())
def test_what_a_tier_does_not_promise_is_told_with_what_to_do(tier: Tier) -> None:
    assert host_of(tier).tier is tier
    text = " ".join(describe_host(host_of(tier)).split())
    assert [one for one in PROMISES if one.otherwise in text] == [one for one in PROMISES if one.lowest > tier]
    assert tier.advice in text


def test_a_remedy_that_helps_many_mechanisms_is_said_once() -> None:
    text = " ".join(describe_host(nothing("Linux").without(*NO_NAMESPACES)).split())
    assert text.count("apparmor_restrict_unprivileged_userns") == 1
    assert text.count("gloo") == 1


def test_another_system_is_not_told_to_change_settings_it_does_not_have() -> None:
    assert "sysctl" not in describe_host(nothing("Darwin"))


def test_lines_fit_a_terminal() -> None:
    assert max(map(len, describe_host(nothing("Linux")).splitlines()[1:])) <= 120
