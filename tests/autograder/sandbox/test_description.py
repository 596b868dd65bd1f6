"""The doctor's words."""

from __future__ import annotations

from autograder.sandbox import describe_host
from autograder.sandbox.host import NO_NAMESPACES, nothing


def test_a_remedy_that_helps_many_mechanisms_is_said_once() -> None:
    text = " ".join(describe_host(nothing("Linux").without(*NO_NAMESPACES)).split())
    assert text.count("apparmor_restrict_unprivileged_userns") == 1
    assert text.count("gloo") == 1


def test_another_system_is_not_told_to_change_settings_it_does_not_have() -> None:
    assert "sysctl" not in describe_host(nothing("Darwin"))


def test_lines_fit_a_terminal() -> None:
    assert max(map(len, describe_host(nothing("Linux")).splitlines()[1:])) <= 120
