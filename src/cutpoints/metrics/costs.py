"""Costs, profits and net benefit: metrics with parameters in the currency of the user."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._wording import ALWAYS, FAWCETT, GOOD, NO_ROWS, finite_number
from cutpoints.metrics.columns import CELLS, RowSum, RowValue, row_value
from cutpoints.metrics.expression import Monotonicity, is_number
from cutpoints.metrics.metric import Direction, Metric, MetricDoc

if TYPE_CHECKING:
    from fractions import Fraction

PerRow: TypeAlias = Any
"""A number, or what differs from row to row: a `column`, or an array."""


def _weighted(
    name: str,
    direction: Direction,
    about: MetricDoc,
    weights: dict[str, Any],
    *,
    review: Any,
    per_row: bool = False,
) -> Metric | RowSum:
    """Build ``sum of weight * count``, as it is or per row; a weight may differ from row to row.

    What a review costs is remembered for `find_band`; one threshold leaves no row to review.
    """
    if not all(map(is_number, (*weights.values(), review))):
        worth = {key: row_value(value, key, name) for key, value in weights.items()}
        reviews = row_value(review, "review", name)
        if any(value.terms for value in (*worth.values(), reviews)):
            return RowSum(
                name=name, direction=direction, doc=about, worth=worth, review=reviews, per_row=per_row
            )
        weights, review = {key: value.constant for key, value in worth.items()}, reviews.constant
    reviewed = finite_number("review", name, review)
    exact = {key: finite_number(key, name, value) for key, value in weights.items()}
    tp_, fp_, fn_, tn_ = (exact[key] for key in ("tp", "fp", "fn", "tn"))
    common = math.lcm(*(value.denominator for value in exact.values()))
    a, b, c, d = (int(value * common) for value in (tp_, fp_, fn_, tn_))

    def numerator(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return a * tp + b * fp + c * fn + d * tn

    def denominator(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return common * (tp + fp + fn + tn) if per_row else tp * 0 + common

    def magnitude(positives: float, negatives: float) -> float:
        size = float(max(abs(tp_), abs(fn_))) * positives + float(max(abs(fp_), abs(tn_))) * negatives
        return size / max(positives + negatives, 1e-300) if per_row else size

    def sign(x: Fraction) -> int:
        return (x > 0) - (x < 0)

    return Metric(
        name=name,
        direction=direction,
        monotonicity=Monotonicity(sign(tp_ - fn_), sign(fp_ - tn_)),
        numerator=numerator,
        denominator=denominator,
        degree=0 if per_row else 1,
        magnitude_=magnitude,
        parameters=tuple((key, value) for key, value in {**exact, "review": reviewed}.items() if value != 0)
        or (("fp", fp_),),
        doc=about,
    )


_COSTS = {
    "tp": "of a hit, a number or a column",
    "fp": "of a false alarm, a number or a column",
    "fn": "of a miss, a number or a column",
    "tn": "of leaving a negative alone, a number or a column",
    "review": "of a row that people review, in find_band",
}


def cost(
    *, tp: PerRow = 0, fp: PerRow = 0, fn: PerRow = 0, tn: PerRow = 0, review: PerRow = 0
) -> Metric | RowSum:
    """Total cost: what each kind of row costs, added up.

    Where the cost differs from row to row: a `column` of a frame or a file, or an array.

    Examples
    --------
    >>> import cutpoints as cp
    >>> from cutpoints import metrics as m
    >>> amount = [20, 3, 50, 400]
    >>> s = cp.find([0, 1, 0, 1], [0.1, 0.2, 0.6, 0.9], minimize=m.cost(fp=5, fn=amount))
    >>> s.threshold, s.value
    (0.9, 3.0)
    """
    about = MetricDoc(
        title="Cost",
        summary="What the decisions cost in all. Only the differences fp - tn and fn - tp move the optimum.",
        formula="c_tp tp + c_fp fp + c_fn fn + c_tn tn",
        range="any number, smaller is better",
        undefined="never",
        monotone="reversed (never rises with TP, never falls with FP) if a miss costs at least a hit and a "
        "false alarm at least leaving alone; otherwise the signs differ, and the search follows them",
        parameters={key: f"the cost {text}; 0 if left out" for key, text in _COSTS.items()},
        aliases=("total_cost",),
        reference="Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI.",
    )
    return _weighted("cost", "lower", about, {"tp": tp, "fp": fp, "fn": fn, "tn": tn}, review=review)


def cost_per_row(
    *, tp: PerRow = 0, fp: PerRow = 0, fn: PerRow = 0, tn: PerRow = 0, review: PerRow = 0
) -> Metric | RowSum:
    """Cost per row: the expected cost; numbers or columns, as for `cost`."""
    about = MetricDoc(
        title="Expected cost per row",
        summary="The cost divided by the number of rows (or by the total weight).",
        formula="(c_tp tp + c_fp fp + c_fn fn + c_tn tn) / n",
        range="any number, smaller is better",
        undefined=NO_ROWS,
        monotone="as for cost",
        parameters={key: f"the cost {text}; 0 if left out" for key, text in _COSTS.items()},
        aliases=("expected_cost", "mean_cost"),
        reference="Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI.",
    )
    weights = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    return _weighted("cost_per_row", "lower", about, weights, review=review, per_row=True)


def profit(
    *, tp: PerRow = 0, fp: PerRow = 0, fn: PerRow = 0, tn: PerRow = 0, review: PerRow = 0
) -> Metric | RowSum:
    """Total profit: what each kind of row earns (negative: costs), added up.

    Numbers or columns, as for `cost`.
    """
    about = MetricDoc(
        title="Profit",
        summary="What the decisions earn in all; costs are negative numbers.",
        formula="v_tp tp + v_fp fp + v_fn fn + v_tn tn",
        range="any number, larger is better",
        undefined="never",
        monotone="yes if a hit earns at least a miss and leaving alone at least a false alarm; "
        "otherwise the signs differ, and the search follows them",
        parameters={key: f"the value {text}; 0 if left out" for key, text in _COSTS.items()},
        aliases=("value", "utility"),
        reference="Provost, F., Fawcett, T. (2013). Data Science for Business. O'Reilly.",
    )
    return _weighted("profit", "higher", about, {"tp": tp, "fp": fp, "fn": fn, "tn": tn}, review=review)


def called(column: PerRow) -> RowSum:
    """Sum of a column over the rows called positive: for budgets such as ``called(minutes) <= 2400``.

    Examples
    --------
    >>> import cutpoints as cp
    >>> from cutpoints import metrics as m
    >>> minutes = [5, 30, 10, 20]
    >>> s = cp.find([0, 1, 0, 1], [0.1, 0.2, 0.6, 0.9], maximize="recall", subject_to=m.called(minutes) <= 45)
    >>> s.threshold
    0.9
    """
    value, nothing = row_value(column, "column", "called"), RowValue()
    if not value.terms:
        raise InvalidParameterError(
            "called(column)", caller="called", expected="a column", got=str(value),
            hint="to bound the number of rows called positive, use predicted_positive.",
        )  # fmt: skip
    return RowSum(
        name="called",
        direction="neither",
        worth={cell: value if cell in {"tp", "fp"} else nothing for cell in CELLS},
        text=f"called({value})",
        doc=MetricDoc(
            title="Called positive (sum of a column)",
            summary="The sum of a column over the rows called positive: minutes of review, money at stake.",
            formula="sum of the column over tp and fp",
            range="any number",
            undefined="never",
            monotone="moves one way with the threshold if the column has no negative values",
            parameters={
                "column": "the column, alone or with numbers: called(minutes), called(2*minutes + 1)"
            },
            reference=FAWCETT,
        ),
    )


def net_benefit(*, at: float) -> Metric:
    """Net benefit at a threshold probability: the y axis of decision-curve analysis."""
    p = finite_number("at", "net_benefit", at)
    if not 0 <= p < 1:
        raise InvalidParameterError(
            "net_benefit(at)", caller="net_benefit", expected="a probability in [0, 1)", got=float(p)
        )

    above, under = (p / (1 - p)).as_integer_ratio()

    return Metric(
        name="net_benefit",
        direction="higher",
        monotonicity=GOOD,
        numerator=lambda tp, fp, fn, tn: under * tp - above * fp,
        denominator=lambda tp, fp, fn, tn: under * (tp + fp + fn + tn),
        magnitude_=lambda positives, negatives: 1.0 + float(p / (1 - p)),
        parameters=(("at", p),),
        doc=MetricDoc(
            title="Net benefit",
            summary="Hits per row minus false alarms per row, weighted by the odds at which one is "
            "ready to act. Its maximizer is the cost optimum with fp : fn = at : (1 - at).",
            formula="tp/n - fp/n * at/(1 - at)",
            range="(-inf, prevalence], larger is better, 0 is 'treat none'",
            undefined=NO_ROWS,
            monotone=ALWAYS,
            parameters={"at": "the threshold probability in [0, 1)"},
            aliases=("nb",),
            reference="Vickers, A. J., Elkin, E. B. (2006). Decision curve analysis. "
            "doi:10.1177/0272989X06295361",
        ),
    )
