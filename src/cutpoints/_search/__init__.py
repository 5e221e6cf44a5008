"""Exact search over a source: knows the three questions, and no engine."""
