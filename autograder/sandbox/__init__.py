"""Run a stranger's program so that it can neither read, nor write, nor reach, nor outlive what it was given."""

from __future__ import annotations

from autograder.sandbox.box import Box
from autograder.sandbox.host import Host, Mechanism, probe
from autograder.sandbox.report import describe
from autograder.sandbox.tier import Reached, Tier
from autograder.sandbox.view import View, default_read, new_private

__all__ = ["Box", "Host", "Mechanism", "Reached", "Tier", "View", "default_read", "describe", "new_private", "probe"]
