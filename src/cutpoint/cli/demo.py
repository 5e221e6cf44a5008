"""`cutpoint demo`: the main job on real data, with nothing to prepare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cutpoint.cli._options import json_option
from cutpoint.cli._output import console, exact, print_json, rate, table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutpoint.solution import Cut, Solution

LABEL, SCORE = "malignant", "p"
MEASUREMENTS = ("mean radius", "mean texture")
DECIMALS = 4
DEFAULT = 0.5
GOALS: tuple[dict[str, str], ...] = (
    {"maximize": "accuracy"},
    {"maximize": "f1"},
    {"maximize": "mcc"},
    {"minimize": "cost(fp=1, fn=5)"},
    {"maximize": "recall", "subject_to": "precision >= 0.95"},
)
NEXT = (
    f"cutpoint find FILE --label {LABEL} --score {SCORE} --maximize f1",
    f"cutpoint find FILE --label {LABEL} --score {SCORE} --minimize 'cost(fp=1, fn=5)'",
    f"cutpoint curve FILE --label {LABEL} --score {SCORE}",
    "cutpoint metrics",
)


@dataclass(frozen=True)
class Result:
    """What one goal asks for, what is best for it, and what the default does."""

    solution: Solution
    default: Cut
    default_value: float
    default_allowed: bool
