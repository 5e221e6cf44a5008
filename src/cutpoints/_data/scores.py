"""Scores to decide on: an array, or one column of a frame or of files. No labels are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cutpoints._data.array_input import as_floats, refuse_nan
from cutpoints._data.read import Data, as_unlabelled, is_path

if TYPE_CHECKING:
    from cutpoints._kernel.tables import Scores


def read_scores(data: Any, score: str | None, caller: str = "decide") -> Scores:
    """Return the scores of an array, or of a column of a frame, of files or of a `Data`; raise for NaN."""
    name, scores = "y_score", data
    if isinstance(data, Data) or is_path(data) or hasattr(type(data), "columns"):
        table = as_unlabelled(data, score=score, weight=None, sample_weight=None, caller=caller)
        name, scores, _ = table.probabilities()
    found = as_floats(scores, name, caller)
    refuse_nan(found, name)
    return found
