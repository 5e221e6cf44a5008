"""The page that a manager decides from, and the summary behind it."""

from cutpoints._report.result import Report, report

__all__ = ["Report", "report"]
