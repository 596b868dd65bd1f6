"""Tell a person what this host can promise, what is missing, what that means and what to do about it."""

from __future__ import annotations

import textwrap

from autograder.sandbox.host import Host


def describe(host: Host) -> str:
    """For `autograder doctor`, several lines: the tier with its promise, then one entry for each mechanism."""
    lines = [f"Sandbox {host.sentence}."]
    width = max(len(m.name) for m in host.mechanisms)
    for mechanism in host.mechanisms:
        mark = "yes" if mechanism.available else "no "
        lines.append(f"  {mark}  {mechanism.name:<{width}}  {mechanism.finding}")
        if mechanism.means and not mechanism.available:
            indent = " " * 7
            lines += textwrap.wrap(mechanism.means, 110, initial_indent=indent, subsequent_indent=indent)
    return "\n".join(lines)
