"""The log to look at: a report, a timeline, a cell magic."""
