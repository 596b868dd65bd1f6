"""Tell a person what this host can promise, what is missing, what that means and what to do about it."""

from __future__ import annotations

import textwrap

from autograder.sandbox.host import Host

_WIDTH = 116


def describe_host(host: Host) -> str:
    """For `autograder doctor`: the tier with its promise, one entry for each mechanism, and the next steps."""
    lines = [f"Sandbox {host.sentence}."]
    width = max(len(m.name) for m in host.mechanisms)
    for mechanism in host.mechanisms:
        mark = "yes" if mechanism.available else "no "
        lines += _wrap_text(mechanism.finding, f"  {mark}  {mechanism.name:<{width}}  ")
        lines += _wrap_text(mechanism.means, " " * (width + 9)) if mechanism.means else []
    if expected := host.tier.not_kept:
        lines.append("What a submission can do here that it cannot at tier full:")
        for sentence in expected:
            lines += _wrap_text(sentence, "  - ")
        lines += _wrap_text(host.tier.advice, "")
    # Many mechanisms have the same remedy: said once.
    steps = list(dict.fromkeys(m.step for m in host.mechanisms if m.step))
    if steps and host.system == "Linux":
        lines.append("To have what is missing:")
        for step in steps:
            lines += _wrap_text(step, "  - ")
    return "\n".join(lines)


def _wrap_text(text: str, start: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
