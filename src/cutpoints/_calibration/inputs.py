"""Labels and probabilities, checked once for all functions of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_array, as_floats, refuse_beyond, refuse_nan, same_length
from cutpoints._data.labels import Labels
from cutpoints._data.read import by_name
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLIP = 2.0**-53


def as_scores(y_score: Any, name: str) -> NDArray[np.float64]:
    """Return float64 numbers without NaN; refuse no rows."""
    scores = as_floats(y_score, name).astype(np.float64)
    same_length({name: scores})
    refuse_nan(scores, name)
    return scores


def as_probabilities(y_prob: Any, name: str = "y_prob") -> NDArray[np.float64]:
    """Return float64 numbers in [0, 1]."""
    p = as_scores(y_prob, name)
    refuse_beyond(p, name)
    return p


def labels_and_probabilities(
    y_true: Any, y_prob: Any, *, columns: dict[str, str | None], pos_label: Any, caller: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return labels as 0.0 and 1.0, and probabilities: of arrays, or of columns of a frame or of files."""
    found = by_name(y_true, columns, arrays={"y_prob": y_prob}, pos_label=pos_label, caller=caller)
    if found is None:
        if y_prob is None:
            raise InvalidParameterError.of(
                parameter="y_prob",
                caller=caller,
                must_be="given: one probability per label",
                got="nothing",
                hint=f"{caller}(y_true, y_prob), or {caller}(frame, label='y', score='p').",
            )
        p = as_probabilities(y_prob)
        return as_labels(y_true, pos_label, p, "y_prob"), p
    ((name, source),) = found.items()
    p = as_probabilities(source.scores, name)
    source.summary()  # checks the labels
    y, _ = source.streams[0].read(slice(None), slice(None))
    return np.asarray(y, dtype=np.float64), p


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(p / (1 - p)); 0 and 1 are moved inside by `CLIP`, so that it is finite."""
    inside = np.clip(p, CLIP, 1 - CLIP)
    return np.log(inside) - np.log1p(-inside)


def as_labels(y_true: Any, pos_label: Any, scores: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return labels as 0.0 and 1.0, one for each score."""
    labels = Labels(as_array(y_true, "y_true"), pos_label)
    same_length({"y_true": labels, name: scores})
    everything = slice(None)
    sides, counts = labels.check(everything)
    labels.settle([counts])
    return np.asarray(sides, dtype=np.float64)


def as_prevalence(value: Any, parameter: str, caller: str) -> float:
    """Return a share strictly between 0 and 1."""
    numeric = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not numeric or not 0 < float(value) < 1:
        raise InvalidParameterError.of(
            parameter=parameter,
            caller=caller,
            must_be="a share of positives strictly between 0 and 1",
            got=value,
            hint="for 5 % pass 0.05.",
        )
    return float(value)
