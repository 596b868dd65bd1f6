"""What people read of a run: the page of each student, the report of the class, the tables on the terminal."""

from autograder.report.class_report import class_report, write_class_report
from autograder.report.feedback import feedback_page, write_feedback
from autograder.report.terminal import (
    bank_table,
    below_full,
    confusion_table,
    demand_table,
    margin_table,
    reasons,
    summary_table,
)

__all__ = [
    "bank_table",
    "below_full",
    "class_report",
    "confusion_table",
    "demand_table",
    "feedback_page",
    "margin_table",
    "reasons",
    "summary_table",
    "write_class_report",
    "write_feedback",
]
