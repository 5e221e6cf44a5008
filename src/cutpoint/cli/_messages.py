"""The wording of errors, in the words of the command line: parameters are options there."""

from __future__ import annotations

import re
import shlex

_NAMES = (
    "maximize|minimize|subject_to|by|min_rows|pos_label|method|at|label|score|weight|positives|negatives"
    "|where|sql|memory_limit|missing|column|output|alpha|psi|dialect|function|confidence|cv|tolerance|n_bootstrap|random_state|formulation|epsilon|time_limit|gap"
)

_REWRITES = (
    # The 'maximize' parameter of find must be ... -> --maximize must be ...
    (re.compile(rf"\bThe '({_NAMES})' parameter of \w+"), lambda m: _option(m[1])),
    # pass `y == 0` as the labels -> what to do with a file
    (
        re.compile(r"pass `(.+) == (.+)` as the labels"),
        lambda _: "write a column that is 1 for its rows and 0 for all others",
    ),
    # maximize='f1' -> --maximize f1
    (
        re.compile(rf"\b({_NAMES})=('[^']*'|[-\w.]+)"),
        lambda m: f"{_option(m[1])} {shlex.quote(m[2].strip(chr(39)))}",
    ),
    (re.compile(r"(?<= )'(pos_label|minimize|maximize)'"), lambda m: _option(m[1])),
    (re.compile(r"\binto subject_to\b"), lambda _: "into --subject-to"),
)


def in_options(message: str) -> str:
    """Return a message of the library in which its parameters are called by their options.

    Examples
    --------
    >>> in_options("Hint: pass pos_label='yes' or pos_label='no'.")
    'Hint: pass --pos-label yes or --pos-label no.'
    """
    for pattern, replacement in _REWRITES:
        message = pattern.sub(replacement, message)
    return message


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
