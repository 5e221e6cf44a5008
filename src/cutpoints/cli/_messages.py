"""The wording of errors, in the words of the command line: parameters are options there."""

from __future__ import annotations

import ast
import re
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from cutpoints.metrics.registry import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = (
    "maximize|minimize|subject_to|by|min_rows|pos_label|method|at|label|score|weight|positives|negatives"
    "|where|sql|memory_limit|missing|column|output|alpha|psi|dialect|function|confidence|cv|tolerance|n_bootstrap|random_state|formulation|epsilon|time_limit|gap"
    "|train_prevalence|new_prevalence|n_bins"
)

_REWRITES = (
    # The 'maximize' parameter of find must be ... -> --maximize must be ...
    # But of a metric it is no option: net_benefit(at=2).
    (
        re.compile(rf"\bThe '({_NAMES})' parameter of (?!(?:{'|'.join(FAMILIES)})\b)\w+"),
        lambda m: _option(m[1]),
    ),
    (re.compile(r"(?m)^'(pos_label|where|sql|subject_to)'(?= must be)"), lambda m: _option(m[1])),
    (re.compile(r"\bThe 'path' parameter of save\b"), lambda _: "--plot"),
    (re.compile(r"\bThe 'path' parameter of write\b"), lambda _: "--write"),
    # pass `y == 0` as the labels -> what to do with a file
    (
        re.compile(r"pass `(.+) == (.+)` as the labels"),
        lambda _: "write a column that is 1 for its rows and 0 for all others",
    ),
    # maximize='f1' -> --maximize f1
    (
        re.compile(rf"""\b({_NAMES})=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[-\w.]+)"""),
        lambda m: f"{_option(m[1])} {_quoted(m[2])}",
    ),
    (re.compile(r"(?<= )'(pos_label|minimize|maximize)'"), lambda m: _option(m[1])),
    (
        re.compile(
            r"with labels, find\(\) takes any scores, and recalibrate\(\) makes probabilities of them"
        ),
        lambda _: "with labels, `cutpoints find` takes any scores",
    ),
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


@contextmanager
def in_columns(**columns: str | None) -> Iterator[None]:
    """Have errors call the arguments of a function by the columns of the file that they come from.

    Examples
    --------
    >>> with in_columns(y_prob="p"):
    ...     raise InvalidInputError("'y_prob' must have at least one row.")
    Traceback (most recent call last):
    cutpoints.exceptions.InvalidInputError: 'p' must have at least one row.
    """
    try:
        yield
    except (InvalidInputError, InvalidParameterError) as error:
        message = str(error)
        for argument, column in columns.items():
            if column is not None:
                message = message.replace(f"'{argument}'", f"'{column}'")
        raise type(error)(message) from error


def _quoted(value: str) -> str:
    r"""Write what Python writes as a value the way a shell needs it, with the quotes that people use.

    Examples
    --------
    >>> print(_quoted("'f1'"), _quoted("\"month = '2026-10'\""), _quoted("0.5"))
    f1 "month = '2026-10'" 0.5
    """
    text = ast.literal_eval(value) if value[0] in "'\"" else value
    return f'"{text}"' if "'" in text and not set('"$`\\!') & set(text) else shlex.quote(text)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
