"""Splits into rows that choose and rows that judge: the one reading of what users pass as `cv`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.segment_codes import coded, in_order
from cutpoints._extras import needs
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cutpoints._evaluate.cross_validation import Splits

DEFAULT_FOLDS = 5
"""Used for ``cv=None``, as in scikit-learn."""
LEAVE_ONE_OUT = "loo"


def make_splits(
    y: NDArray[Any],
    cv: Any,
    *,
    X: Any = None,
    positive: Any = 1,
    groups: NDArray[np.intp] | None = None,
    params: Mapping[str, Any] | None = None,
    stratify: bool = True,
    shuffle: bool = True,
    random_state: Any = None,
    fewest: int = 2,
    also: Sequence[str] = (),
    data: str = "",
    parameter: str = "cv",
    caller: str,
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return for each fold the rows that choose and the rows that judge.

    `cv` is a number of folds, any splitter of scikit-learn, pairs (train, test) of row numbers, "loo" to
    leave out one row, or one group if there are groups, or None for 5. `stratify`, `shuffle` and
    `random_state` are for a number of folds. Rows of one group stay together, and a splitter that ignores
    groups is an error. `params` are passed to a splitter beside X and y, by default the groups. A splitter
    and pairs must give at least the `fewest` folds, 1 or 2. For messages: what else the caller accepts
    (`also`), what the rows are (`data`), and the names of the parameter and of the caller.
    """
    cv = DEFAULT_FOLDS if cv is None else cv
    if groups is not None:
        _check_group_sizes(groups)
    if isinstance(cv, str) and cv == LEAVE_ONE_OUT:
        cv = _leave_one_out(groups)
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise InvalidParameterError(
                parameter,
                caller=caller,
                expected="at least 2 folds",
                got=cv,
                hint=("for example ", Argument(parameter, 5), "."),
            )
        _check_classes(y == positive, int(cv), data)
        if groups is not None:
            _check_groups(groups, int(cv))
        order = {"shuffle": True, "random_state": random_state} if shuffle else {}
        splitter = _splitter(groups, stratify=stratify)(int(cv), **order)
    elif hasattr(cv, "split") and not isinstance(cv, (str, bytes)):
        splitter = cv
        if params is None and groups is not None and not _knows_groups(cv):
            raise InvalidParameterError(
                parameter,
                caller=caller,
                expected="a splitter that keeps groups together when 'groups' are given",
                got=cv,
                hint="pass a number of folds, or GroupKFold, StratifiedGroupKFold or LeaveOneGroupOut.",
            )
    elif hasattr(cv, "__iter__") and not isinstance(cv, (str, bytes)):
        splitter = None
    else:
        raise bad_cv(cv, parameter=parameter, caller=caller, also=also)
    rows = np.zeros(len(y)) if X is None else X
    more = {"groups": groups} if params is None else params
    try:
        splits = iter(cv) if splitter is None else splitter.split(rows, y, **more)
        pairs = [(_row_numbers(train), _row_numbers(test)) for train, test in splits]
    except (ValueError, TypeError) as error:
        raise InvalidParameterError(
            parameter, caller=caller, expected="a way to split these rows", got=f"{cv!r}: {error}"
        ) from error
    if len(pairs) < fewest or min(len(test) for _, test in pairs) == 0:
        sizes = ", ".join(str(len(test)) for _, test in pairs[:10]) or "no"
        raise InvalidParameterError(
            parameter,
            caller=caller,
            expected=f"a way to split the rows into {('one fold', 'two folds')[fewest - 1]} or more, "
            "none of them empty",
            got=f"{cv!r}, which gives folds of {sizes} rows",
        )
    return pairs


def bad_cv(cv: Any, *, parameter: str = "cv", caller: str, also: Sequence[str] = ()) -> InvalidParameterError:
    """Return the error for a `cv` of the wrong kind."""
    kinds = [
        "a number of folds",
        "a splitter of scikit-learn",
        f"'{LEAVE_ONE_OUT}'",
        *also,
        "pairs (train, test) of row numbers",
    ]
    return InvalidParameterError(
        parameter,
        caller=caller,
        expected=f"{', '.join(kinds[:-1])} or {kinds[-1]}",
        got=cv,
    )


def check_both_classes(splits: Splits, positive: NDArray[np.bool_], of: str = "") -> None:
    """Raise if the training part of a fold has only one class; `of` names the folds."""
    for k, (train, _) in enumerate(splits):
        positives = int(positive[train].sum())
        if positives in (0, len(train)):
            raise InvalidInputError.one_class(
                what=f"The training part of fold {k + 1} of {len(splits)}{of}",
                rows=len(train),
                positives=positives,
            )


def _row_numbers(part: Any) -> NDArray[np.intp]:
    """Return one side of a split as row numbers; a splitter may give a mask."""
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == np.bool_ else part.astype(np.intp)


def group_codes(groups: Any, rows: int) -> NDArray[np.intp] | None:
    """Return groups as integers from 0, after a check of their length; None stays None."""
    if groups is None:
        return None
    shape = getattr(groups, "shape", (0,))
    if len(shape) != 1:
        raise InvalidInputError.not_1d(name="groups", shape=shape)
    codes, values = coded(groups, "groups")
    if len(codes) != rows:
        raise InvalidInputError.length(names_and_lengths={"y_true": rows, "groups": len(codes)})
    place = np.empty(len(values), dtype=np.intp)
    place[in_order([(value,) for value in values])] = np.arange(len(values))
    return place[codes]


def _splitter(groups: Any, *, stratify: bool) -> Any:
    with needs("cross-validation"):
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    if groups is None:
        return StratifiedKFold if stratify else KFold
    return StratifiedGroupKFold if stratify else GroupKFold


def _leave_one_out(groups: Any) -> Any:
    with needs("cross-validation"):
        from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut

    return LeaveOneOut() if groups is None else LeaveOneGroupOut()


def _knows_groups(cv: Any) -> bool:
    """Whether a splitter uses groups; trust one that does not say."""
    routing = getattr(cv, "get_metadata_routing", None)
    return routing is None or "groups" in routing().split.requests


def _check_classes(positive: NDArray[np.bool_], number: int, data: str) -> None:
    """Raise if a class has fewer rows than there are folds; `data` says what the rows are."""
    positives = int(np.count_nonzero(positive))
    found, name = min((len(positive) - positives, "negatives"), (positives, "positives"))
    if found < number:
        raise InvalidInputError.too_few(
            what=f"The {name} for {number} folds{data}",
            needed=number,
            found=found,
            hint=_fewer(found, "more rows of this class"),
        )


def _check_group_sizes(groups: NDArray[np.intp]) -> None:
    """Raise if every row is a group of its own."""
    if len(np.unique(groups)) == len(groups):
        raise InvalidInputError.too_few(
            what="The rows of the largest group",
            needed=2,
            found=1,
            hint="every row is a group of its own: leave groups out, or check that it is not an identifier.",
        )


def _check_groups(groups: NDArray[np.intp], number: int) -> None:
    """Raise if there are fewer groups than folds."""
    found = len(np.unique(groups))
    if found < number:
        raise InvalidInputError.too_few(
            what=f"The groups for {number} folds",
            needed=number,
            found=found,
            hint=_fewer(found, "more groups"),
        )


def _fewer(most: int, more: str) -> str:
    """Return the hint for too many folds; the fewest are two."""
    return (
        f"use at most cv={most} folds, or {more}." if most > 1 else f"two folds are the fewest: use {more}."
    )
