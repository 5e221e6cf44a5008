"""The page that a manager decides from, and the summary behind it."""

from cutpoint.report._report import Report, report

__all__ = ["Report", "report"]
