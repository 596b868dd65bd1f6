"""Decide what a submission is worth. What an assignment's checks, probes and faults import, they import from here."""

from autograder.errors import BadReply, LimitReached, StudentError
from autograder.judge.faults import Fault
from autograder.protocol.wire import Tensor

__all__ = ["BadReply", "Fault", "LimitReached", "StudentError", "Tensor"]
