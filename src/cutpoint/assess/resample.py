"""Which rows judge and which rows choose: folds and halves, by class and by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoint._errors import InvalidInputError, InvalidParameterError
from cutpoint.honest import check_classes, check_groups, row_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


def folds(
    y: NDArray[Any],
    cv: Any,
    *,
    groups: NDArray[np.intp] | None = None,
    stratify: bool = True,
    random_state: Any = None,
    caller: str = "assess",
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return for each fold the rows that choose and the rows that judge.

    Parameters
    ----------
    y : ndarray of 0 and 1
        Labels.
    cv : int, splitter or iterable
        So many shuffled folds; or any splitter of scikit-learn; or pairs (train, test) of indices.
    groups : ndarray of int, default=None
        Rows of one group stay together.
    stratify : bool, default=True
        For an int: keep the share of positives the same in all folds.
    random_state : int, default=None
        For an int: how the rows are shuffled.
    caller : str
        For messages.
    """
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        splitter = _splitter(int(cv), y, groups, stratify=stratify, random_state=random_state, caller=caller)
        splits = splitter.split(np.zeros(len(y)), y, groups)
    elif isinstance(cv, (str, bytes)) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise InvalidParameterError.of(
            parameter="cv",
            caller=caller,
            must_be="a number of folds, a splitter of scikit-learn, or pairs (train, test) of row numbers",
            got=cv,
        )
    elif hasattr(cv, "split"):
        if groups is not None and not _knows_groups(cv):
            raise InvalidParameterError.of(
                parameter="cv",
                caller=caller,
                must_be="a splitter that keeps groups together when 'groups' are given",
                got=cv,
                hint="pass a number of folds, or GroupKFold, StratifiedGroupKFold or LeaveOneGroupOut.",
            )
        splits = cv.split(np.zeros(len(y)), y, groups)
    else:
        splits = iter(cv)
    try:
        pairs = [(row_numbers(train), row_numbers(test)) for train, test in splits]
    except (ValueError, TypeError) as error:
        raise InvalidParameterError.of(
            parameter="cv", caller=caller, must_be="a way to split these rows", got=f"{cv!r}: {error}"
        ) from error
    if len(pairs) < 2 or min(len(test) for _, test in pairs) == 0:
        sizes = ", ".join(str(len(test)) for _, test in pairs[:10]) or "no"
        raise InvalidParameterError.of(
            parameter="cv",
            caller=caller,
            must_be="a way to split the rows into two folds or more, none of them empty",
            got=f"{cv!r}, which gives folds of {sizes} rows",
        )
    return pairs


def _knows_groups(cv: Any) -> bool:
    """Whether a splitter uses groups; one that does not say is trusted."""
    routing = getattr(cv, "get_metadata_routing", None)
    return routing is None or "groups" in routing().split.requests


def _splitter(
    number: int,
    y: NDArray[Any],
    groups: NDArray[np.intp] | None,
    *,
    stratify: bool,
    random_state: Any,
    caller: str,
) -> Any:
    """Return scikit-learn's splitter, after saying clearly what it would say late or not at all."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    if number < 2:
        raise InvalidParameterError.of(
            parameter="cv", caller=caller, must_be="at least 2 folds", got=number, hint="for example cv=5."
        )
    counts = np.bincount(y.astype(np.intp), minlength=2)
    if groups is not None:
        check_groups(groups, number)
        if stratify:
            return StratifiedGroupKFold(number, shuffle=True, random_state=random_state)
        return GroupKFold(number, shuffle=True, random_state=random_state)
    check_classes(counts, number)
    kind = StratifiedKFold if stratify else KFold
    return kind(number, shuffle=True, random_state=random_state)


def numbered(groups: Any, rows: int) -> NDArray[np.intp] | None:
    """Return groups as numbers from 0, checked for their length; None stays None."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.ndim != 1:
        raise InvalidInputError.not_1d(name="groups", shape=values.shape)
    if len(values) != rows:
        raise InvalidInputError.length(names_and_lengths={"y_true": rows, "groups": len(values)})
    if values.dtype.kind == "O":
        values = values.astype(str)
    return np.unique(values, return_inverse=True)[1].astype(np.intp)
