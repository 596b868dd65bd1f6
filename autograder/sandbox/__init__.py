"""Run a stranger's program so that it can neither read, nor write, nor reach, nor outlive what it was given."""

from __future__ import annotations

from autograder.sandbox.box import MAX_ENTRIES, Box
from autograder.sandbox.description import describe_host
from autograder.sandbox.host import Host, Mechanism, probe
from autograder.sandbox.tier import ReachedTier, Tier
from autograder.sandbox.view import View, default_read, new_private, own_prefix, sweep_folders

__all__ = [
    "MAX_ENTRIES",
    "Box",
    "Host",
    "Mechanism",
    "ReachedTier",
    "Tier",
    "View",
    "default_read",
    "describe_host",
    "new_private",
    "own_prefix",
    "probe",
    "sweep_folders",
]
