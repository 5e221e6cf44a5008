"""`find_joint`: thresholds that are best together, whatever the data, and an honest number beside them."""

import json
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError
from oracle import Bound, Sum, Term, joint
from strategies import directions, problems

OBJECTIVES = {
    "recall": Term("recall"),
    "precision": Term("precision"),
    "f1": Term("f1"),
    "jaccard": Term("jaccard"),
    "accuracy": Term("accuracy"),
    "kappa": Term("kappa"),
    "npv": Term("npv"),
    "predicted_positive": Term("predicted_positive"),
    "cost(fp=2, fn=5)": Term("cost", {"fp": 2, "fn": 5}),
    "profit(tp=3, fp=-1)": Term("profit", {"tp": 3, "fp": -1}),
}
BOUNDED = ("recall", "precision", "accuracy", "fpr", "npv", "f1", "predicted_positive_rate")


@st.composite
def bounds(draw, max_size):
    """Some constraints, as texts and as the oracle reads them."""
    found = []
    for _ in range(draw(st.integers(0, max_size))):
        name = draw(st.sampled_from(BOUNDED))
        relation = draw(st.sampled_from([">=", "<=", ">", "<"]))
        number = draw(st.sampled_from(["0", "0.1", "0.25", "0.5", "0.6", "0.75", "0.9", "1"]))
        meaning = Bound(Sum((Term(name),)), relation, Fraction(number))
        found.append((f"{name} {relation} {number}", meaning))
    return [text for text, _ in found], [meaning for _, meaning in found]


@st.composite
def joint_problems(draw):
    """A few rows in at most three segments."""
    problem = draw(problems(max_size=14))
    size = len(problem.scores)
    return problem, draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))


def ask(problem, by, **options):
    """Call `find_joint` with a problem of any kind."""
    if problem.labels is None:
        data = cp.from_counts(problem.scores, positives=problem.positives, negatives=problem.negatives)
        return cp.find_joint(data, by=by, **options)
    return cp.find_joint(problem.labels, problem.scores, by=by, sample_weight=problem.weights, **options)


def in_segments(problem, by):
    """The rows of each segment, as the oracle wants them."""
    return [
        [row for row, key in zip(problem.rows, by, strict=True) if key == wanted]
        for wanted in sorted(set(by))
    ]


@given(joint_problems(), st.sampled_from(sorted(OBJECTIVES)), directions, bounds(3), bounds(1))
@settings(max_examples=400)
def test_no_other_thresholds_are_better(problem_by, objective, direction, total, each):
    """The value is the best of all combinations of cuts; where none is feasible, it says so."""
    problem, by = problem_by
    segments = in_segments(problem, by)
    best = joint(segments, Sum((OBJECTIVES[objective],)), direction, total[1], each=each[1])
    try:
        found = ask(problem, by, **{direction: objective}, subject_to=total[0], each=each[0])
    except InvalidInputError:
        assert best is None
        return

    assert ("infeasible" if best is None else "optimal") == found.status
    if best is not None:
        assert float(best) == found.value
        assert found.certificate.lower == found.certificate.upper == found.value


@given(joint_problems(), bounds(2))
@settings(max_examples=100)
def test_decisions_give_the_confusion(problem_by, total):
    """The thresholds, applied to the rows one by one, give the confusions that were promised."""
    problem, by = problem_by
    try:
        found = ask(problem, by, maximize="accuracy", subject_to=total[0])
    except InvalidInputError:
        return
    if found.status == "infeasible":
        return
    called = found.decide(problem.scores, by)
    cells = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    for (_, pos, neg), decision in zip(problem.rows, called, strict=True):
        cells["tp" if decision else "fn"] += pos
        cells["fp" if decision else "tn"] += neg

    assert {name: float(cell) for name, cell in cells.items()} == found.confusion.to_dict()
    for name in cells:
        assert math.isclose(
            sum(entry.confusion.to_dict()[name] for entry in found.values()), found.confusion.to_dict()[name]
        )


def simulated(segments=8, rows=400, seed=0):
    """Segments that differ in prevalence and in how well their scores separate."""
    rng = np.random.default_rng(seed)
    by = np.repeat(np.arange(segments), rows)
    y = (rng.random(len(by)) < np.linspace(0.1, 0.4, segments)[by]).astype(int)
    return y, rng.normal(size=len(by)) + y * np.linspace(0.8, 2.4, segments)[by], by


@pytest.mark.parametrize("seed", range(6))
def test_float_weights_are_proven(seed):
    """With weights that are floats, no two combinations tie, and a capacity still has a proven optimum."""
    y, s, by = simulated(5, 100, seed)
    weights = np.random.default_rng(seed).lognormal(size=len(y))
    found = cp.find_joint(
        y, s, by=by, sample_weight=weights, minimize="cost(fp=1, fn=5)",
        subject_to="predicted_positive_rate <= 0.1",
    )  # fmt: skip

    assert found.status == "optimal"


def test_together_is_at_least_as_good():
    """No single threshold, and no thresholds of segments by themselves, are better for the same goal."""
    y, s, by = simulated()
    found = cp.find_joint(y, s, by=by, maximize="recall", subject_to="precision >= 0.8")

    assert found.value > found.separate.value > 0
    assert (
        found.value
        > found.single.value
        == cp.find(y, s, maximize="recall", subject_to="precision >= 0.8").value
    )
    assert found.separate.thresholds == {
        key: entry.threshold
        for key, entry in cp.find_by(y, s, by=by, maximize="recall", subject_to="precision >= 0.8").items()
    }


def test_one_segment_is_find():
    """With one segment the value is that of `find`, for every objective."""
    y, s, _ = simulated(1, 300)
    for objective in OBJECTIVES:
        found = cp.find_joint(y, s, by=["all"] * len(y), maximize=objective)
        assert cp.find(y, s, maximize=objective).value == found.value


def test_each_segment_keeps_its_bound():
    """What must hold in each segment holds in each, and costs value."""
    y, s, by = simulated()
    options = {"by": by, "maximize": "recall", "subject_to": "precision >= 0.7"}
    free, bound = cp.find_joint(y, s, **options), cp.find_joint(y, s, **options, each="recall >= 0.3")

    assert min(entry.confusion.metric("recall") for entry in bound.values()) >= 0.3
    assert min(entry.confusion.metric("recall") for entry in free.values()) < 0.3
    assert bound.value < free.value


def test_the_frontier_is_made_of_thresholds():
    """Each corner has the totals of its thresholds; precision and recall never both beat a corner of it."""
    y, s, by = simulated(4, 200)
    found = cp.find_joint(y, s, by=by, maximize="recall", subject_to="precision >= 0.8")
    frontier = found.frontier()
    for corner in (0, len(frontier) // 3, len(frontier) // 2, len(frontier) - 1):
        thresholds = frontier.thresholds(corner)
        called = np.array([s[i] >= thresholds[by[i]] for i in range(len(s))])
        assert (int(y[called].sum()), int((1 - y[called]).sum())) == (
            frontier.tp[corner],
            frontier.fp[corner],
        )
    reached = frontier.precision >= 0.8

    assert found.value >= frontier.recall[reached].max()
    assert ["tp", "fp", "predicted_positive", "recall", "fpr", "precision", "value"] == list(
        frontier.to_pandas()
    )


def test_more_thresholds_promise_too_much():
    """With many small segments the cross-validated precision is far below its bound, and it is shown."""
    y, s, by = simulated(60, 100)
    found = cp.find_joint(y, s, by=by, maximize="recall", subject_to="precision >= 0.8")
    new = found.cross_validated

    assert new.constraints["precision >= 0.8"] < 0.77
    assert new.broken == ("precision >= 0.8",)
    assert new.value < found.value
    assert f"precision >= 0.8 is {new.constraints['precision >= 0.8']:.4g}" in repr(found)


def test_counts_are_scaled_in_folds():
    """A bound on the number of calls is met on all rows, not on the rows of a fold."""
    y, s, by = simulated(3, 1000)
    found = cp.find_joint(y, s, by=by, maximize="recall", subject_to="predicted_positive <= 500")

    assert 470 <= found.cross_validated.constraints["predicted_positive <= 500"] <= 530


def test_the_order_of_rows_does_not_matter():
    """Shuffled rows give the same thresholds and the same cross-validated value."""
    y, s, by = simulated(5, 100)
    order = np.random.default_rng(1).permutation(len(y))
    options = {"maximize": "f1", "subject_to": "recall >= 0.6"}
    found = cp.find_joint(y, s, by=by, **options)
    shuffled = cp.find_joint(y[order], s[order], by=by[order], **options)

    assert found.to_dict() == shuffled.to_dict()


def test_infeasible_says_how_far():
    """Infeasible constraints: what each attains alone, and where the other holds."""
    y, s, by = simulated(3, 200)
    found = cp.find_joint(y, s, by=by, maximize="f1", subject_to=["precision >= 0.99", "recall >= 0.9"])

    assert found.status == "infeasible"
    assert (found.value, found.confusion, dict(found)) == (None, None, {})
    best = {one.constraint: one.with_others.value for one in found.attainable}
    met = cp.find_joint(y, s, by=by, maximize="precision", subject_to="recall >= 0.9")
    assert met.value == best["precision >= 0.99"]
    with pytest.raises(InfeasibleError, match=r"together\. The best possible while the others hold"):
        found.raise_if_infeasible()


def test_infeasible_says_how_small_a_gap_can_be():
    """Where bounds in each segment rule out a gap, the smallest one is told."""
    y, s, by = [0, 1, 1, 0, 1], [1, 2, 3, 1, 2], ["a", "a", "a", "b", "b"]
    options = {"each": ["recall >= 0.3", "fpr <= 0.5"], "gap": "predicted_positive_rate <= 0.1"}
    found = cp.find_joint(y, s, by=by, maximize="f1", **options)

    assert found.status == "infeasible"
    assert [1 / 6] == pytest.approx([one.value for one in found.attainable])
    assert "0.166667 for a gap of predicted_positive_rate <= 0.1" in repr(found)
    with pytest.raises(InfeasibleError, match="a gap of predicted_positive_rate"):
        found.raise_if_infeasible()


def test_a_segment_that_cannot_is_named():
    """If no threshold of a segment meets what must hold in each, the message has its key."""
    found = cp.find_joint(
        [0, 1, 0, 1], [1, 2, 4, 3], by=["a", "a", "b", "b"], maximize="f1", each="precision >= 1"
    )

    with pytest.raises(InfeasibleError, match="No threshold of segment 'b' meets 'precision >= 1'"):
        found.raise_if_infeasible()


def test_what_is_undefined_does_not_bind():
    """A bound on recall in each segment says nothing about a segment without positives."""
    found = cp.find_joint(
        [0, 1, 0, 0], [1, 2, 4, 3], by=["a", "a", "b", "b"], maximize="accuracy", each="recall >= 1"
    )

    assert {"a": 2.0, "b": math.inf} == found.thresholds


def test_hostile_keys():
    """Missing keys are a segment of their own; any text is a key."""
    by = np.array([None, None, "</script>", "</script>", "a\x00b", "a\x00b"], dtype=object)
    found = cp.find_joint([0, 1, 0, 1, 0, 1], [1, 2, 1, 2, 2, 1], by=by, maximize="accuracy")

    assert ["</script>", "a\x00b", None] == list(found)
    assert "</script>" not in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["segments"][2]["key"] == {"segment": None}


def test_frames_and_files_agree(tmp_path):
    """Arrays, a frame, a lazy frame and a file give the same answer."""
    pl = pytest.importorskip("polars")
    y, s, by = simulated(3, 100)
    frame = pl.DataFrame({"y": y, "p": s, "country": by})
    frame.write_parquet(tmp_path / "scores.parquet")
    goal = {"maximize": "recall", "subject_to": "precision >= 0.7"}
    columns = {"label": "y", "score": "p", "by": "country"}
    wanted = cp.find_joint(y, s, by=by, **goal)
    for data in (frame, frame.lazy(), frame.to_pandas(), tmp_path / "scores.parquet"):
        assert wanted.thresholds == cp.find_joint(data, **columns, **goal).thresholds


def test_rows_that_stay_in_their_engine(monkeypatch):
    """Rows that are not collected are grouped in the engine, and the answer is the same."""
    pl = pytest.importorskip("polars")
    from cutpoints._data import lazy_segments

    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 10)
    y, s, by = simulated(3, 100)
    frame = pl.DataFrame({"y": y, "p": s, "country": by, "w": s**2 + 1}).lazy()
    goal = {
        "maximize": "recall",
        "subject_to": "precision >= 0.7",
        "label": "y",
        "score": "p",
        "by": "country",
    }

    assert cp.find_joint(frame.collect(), **goal).to_dict() == {
        **cp.find_joint(frame, **goal).to_dict(),
        "certificate": cp.find_joint(frame.collect(), **goal).certificate.to_dict(),
    }
    with pytest.raises(InvalidParameterError, match="left out where the rows are not in memory"):
        cp.find_joint(frame, weight="w", **goal)


NARROWED = (
    {"maximize": "recall", "subject_to": "precision >= 0.6"},
    {"maximize": "f1"},
    {"minimize": "cost(fp=1, fn=5)", "subject_to": "predicted_positive <= 200"},
    {"maximize": "recall", "subject_to": ["precision >= 0.4", "fpr <= 0.3"], "each": "recall >= 0.2"},
    {"maximize": "accuracy", "each": ["precision >= 0.3", "mcc >= 0.1"]},
    {"maximize": "recall", "subject_to": ["precision >= 0.9", "recall >= 0.9"]},
)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "parquet"])
@pytest.mark.parametrize("goal", NARROWED, ids=str)
def test_few_scores_are_fetched(monkeypatch, tmp_path, engine, goal):
    """Of rows that stay in their engine only some scores are fetched; value and proof are the same."""
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    from cutpoints._data import groupby_segments, lazy_segments

    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 10)
    monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", 100)
    monkeypatch.setattr(groupby_segments, "QUERY_GROUPS", 300)
    y, s, by = simulated(4, 500, len(str(goal)))
    frame = pl.DataFrame({"y": y, "p": s, "country": by})
    frame.write_parquet(tmp_path / "scores.parquet")
    connection = duckdb.connect()
    data = {
        "polars": frame.lazy,
        "duckdb": lambda: connection.from_arrow(frame.to_arrow()),
        "parquet": lambda: tmp_path / "scores.parquet",
    }[engine]()
    columns = {"label": "y", "score": "p", "by": "country"}
    expected = cp.find_joint(frame, **columns, **goal)
    found = cp.find_joint(data, **columns, **goal)

    assert (expected.status, expected.value) == (found.status, found.value)
    assert [one.to_dict() for one in expected.attainable] == [one.to_dict() for one in found.attainable]
    if found.status == "infeasible":
        return
    assert found.certificate.cuts < expected.certificate.cuts / 2
    called = found.decide(s, by)
    assert (int(y[called == 1].sum()), int((1 - y)[called == 1].sum())) == (
        found.confusion.tp,
        found.confusion.fp,
    )
    assert expected.single.value == found.single.value
    assert expected.separate.to_dict() == found.separate.to_dict()
    assert 0 < found.cross_validated.value
    for key, entry in found.items():  # the interval ends at the next lower score, fetched or not
        lower = s[(by == key) & (s < entry.threshold)]
        assert lower.max(initial=-math.inf) == entry.interval.low


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maximize": "mcc"}, "maximize must be a metric that is a quotient of linear functions"),
        ({"maximize": "f1", "subject_to": "mcc >= 0.1"}, "subject_to must be a metric that is a quotient"),
        ({"maximize": "f1", "each": "recall"}, "must be comparisons of a metric with a number"),
        ({"maximize": "f1", "minimize": "cost(fp=1)"}, "and not both"),
    ],
)
def test_what_cannot_be_proven_is_refused(options, message):
    """Metrics that are not linear-fractional, and goals that make no sense, are errors that say why."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.find_joint([0, 1], [0.1, 0.2], by=["a", "b"], **options)


def test_undefined_whatever_is_called():
    """Recall without any positive row is an error."""
    with pytest.raises(InvalidInputError, match="must be defined at one cut at least"):
        cp.find_joint([0, 0], [0.1, 0.2], by=["a", "b"], maximize="recall")


# --- the gap between segments

RATES = ("recall", "fpr", "precision", "predicted_positive_rate", "accuracy")
gaps = st.tuples(
    st.sampled_from(RATES),
    st.sampled_from(["<=", "<"]),
    st.sampled_from(["0", "0.05", "0.25", "0.5", "1"]),
).filter(lambda gap: gap[1:] != ("<", "0"))


@given(
    joint_problems(),
    st.sampled_from(sorted(OBJECTIVES)),
    directions,
    bounds(1),
    st.lists(gaps, min_size=1, max_size=3),
)
@settings(max_examples=300)
def test_no_other_thresholds_within_the_gaps_are_better(problem_by, objective, direction, total, bounded):
    """With bounds on one gap or several the value is the best of all combinations that keep them."""
    problem, by = problem_by
    best = joint(
        in_segments(problem, by),
        Sum((OBJECTIVES[objective],)),
        direction,
        total[1],
        gaps=[(name, relation, Fraction(number)) for name, relation, number in bounded],
    )
    try:
        found = ask(
            problem,
            by,
            **{direction: objective},
            subject_to=total[0],
            gap=[" ".join(gap) for gap in bounded],
        )
    except InvalidInputError:
        assert best is None
        return

    assert (None, "infeasible") == (best, found.status) or (float(best), "optimal") == (
        found.value,
        found.status,
    )


def test_the_price_of_fixed_thresholds():
    """Rules that decide by chance are at least as good under the same gap; both are shown."""
    y, s, by = simulated(4, 150)
    free = cp.find_joint(y, s, by=by, maximize="accuracy")
    found = cp.find_joint(y, s, by=by, maximize="accuracy", gap="recall <= 0.02")
    rates = [entry.confusion.metric("recall") for entry in found.values()]

    assert max(rates) - min(rates) <= 0.02
    assert found.value <= found.randomized <= free.value + 1e-12
    assert found.cross_validated.gap["recall <= 0.02"] > 0.02
    assert "by chance" in repr(found)


def test_a_gap_beside_a_constraint():
    """A bound on precision over all rows and a gap in recall hold together, in larger problems."""
    y, s, by = simulated(6, 300)
    found = cp.find_joint(y, s, by=by, maximize="f1", subject_to="precision >= 0.6", gap="recall <= 0.1")
    rates = [entry.confusion.metric("recall") for entry in found.values()]

    assert found.status == "optimal"
    assert max(rates) - min(rates) <= 0.1
    assert found.confusion.metric("precision") >= 0.6
    assert found.value <= found.randomized + 1e-9


@pytest.mark.parametrize("gap", ["recall >= 0.1", "recall <= -1", "recall < 0", "mcc <= 0.1"])
def test_what_is_no_gap_is_refused(gap):
    """A gap is an upper bound on a rate."""
    with pytest.raises(InvalidParameterError, match="gap must be an upper bound"):
        cp.find_joint([0, 1], [0.1, 0.2], by=["a", "b"], maximize="f1", gap=gap)


def test_a_policy_decides_alike(tmp_path):
    """The thresholds ship as a policy of segments, with the value to expect on new data."""
    y, s, by = simulated(3, 100)
    found = cp.find_joint(y, s, by=by, maximize="recall", subject_to="precision >= 0.7")
    found.policy("together", default=0.5).save(tmp_path / "policy.json")
    policy = cp.Policy.load(tmp_path / "policy.json")

    assert found.decide(s, by).tolist() == policy.decide(s, by).tolist()
    assert found.cross_validated.value == policy.found_on.cross_validated
    assert [1] == policy.decide([0.5], [99]).tolist()


# --- constraints that hold on new data


def population(segments, prevalence):
    """Shares of positives, and shifts of their normal scores, by segment."""
    return np.linspace(0.5, 1.5, segments) * prevalence, np.linspace(0.8, 2.6, segments)


def drawn(segments, rows, prevalence, seed):
    """Fresh rows of this population."""
    rng = np.random.default_rng([segments, rows, seed])
    share, shift = population(segments, prevalence)
    by = np.repeat(np.arange(segments), rows)
    y = (rng.random(len(by)) < share[by]).astype(int)
    return y, rng.normal(size=len(by)) + y * shift[by], by


def in_truth(found, segments, prevalence):
    """Recall, precision and fpr of thresholds in the population."""
    share, shift = population(segments, prevalence)
    above = NormalDist().cdf
    thresholds = [found.thresholds[g] for g in range(segments)]
    tp = sum(p * above(d - t) for p, d, t in zip(share, shift, thresholds, strict=True))
    fp = sum((1 - p) * above(-t) for p, t in zip(share, thresholds, strict=True))
    return {"recall": tp / share.sum(), "precision": tp / (tp + fp), "fpr": fp / (1 - share).sum()}


def broken_promises(segments, rows, prevalence, constraint, runs):
    """The share of fresh samples whose certified thresholds break the constraint in the population."""
    name, relation, bound = constraint.split()
    objective = "precision" if name == "recall" else "recall"
    broken = certified = 0
    for seed in range(runs):
        y, s, by = drawn(segments, rows, prevalence, seed)
        found = cp.find_joint(y, s, by=by, maximize=objective, subject_to=constraint, guarantee=0.9)
        if found.status == "optimal":
            value = in_truth(found, segments, prevalence)[name]
            broken += value < float(bound) if relation == ">=" else value > float(bound)
            certified += 1
    return broken / runs, certified / runs


def test_a_guarantee_holds_on_new_data():
    """Certified thresholds keep their constraint in the population; those of the plain search do not."""
    broken, certified = broken_promises(4, 250, 0.3, "precision >= 0.75", 40)
    naive = 0
    for seed in range(20):
        y, s, by = drawn(4, 250, 0.3, seed)
        plain = cp.find_joint(y, s, by=by, maximize="recall", subject_to="precision >= 0.75")
        naive += in_truth(plain, 4, 0.3)["precision"] < 0.75

    assert broken <= 0.1 + 3 * math.sqrt(0.09 / 40)
    assert certified > 0.8
    assert naive > 10


@pytest.mark.slow
@pytest.mark.parametrize("constraint", ["precision >= 0.75", "recall >= 0.8", "fpr <= 0.05"])
@pytest.mark.parametrize(
    ("segments", "rows", "prevalence"),
    [(2, 200, 0.3), (5, 400, 0.3), (5, 2000, 0.1), (20, 100, 0.3), (20, 500, 0.1), (60, 50, 0.3)],
)
def test_a_guarantee_holds_in_every_setting(segments, rows, prevalence, constraint):
    """Promises are broken for at most one sample in ten, as asked, whatever the segments and the rows."""
    broken, _ = broken_promises(segments, rows, prevalence, constraint, 300)

    assert broken <= 0.1 + 3 * math.sqrt(0.09 / 300)


def test_the_certified_thresholds_are_on_the_path():
    """The confusion is that of the decisions; the rows certify, in any order, the same thresholds."""
    y, s, by = drawn(4, 500, 0.3, 0)
    options = {"maximize": "recall", "subject_to": "precision >= 0.75", "guarantee": 0.95}
    found = cp.find_joint(y, s, by=by, **options)
    called = found.decide(s, by)
    order = np.random.default_rng(1).permutation(len(y))

    assert int(y[called == 1].sum()) == found.confusion.tp
    assert int((1 - y)[called == 1].sum()) == found.confusion.fp
    assert found.to_dict() == cp.find_joint(y[order], s[order], by=by[order], **options).to_dict()
    assert found.guarantee.pilot_rows + found.guarantee.calibration_rows == len(y)
    assert "precision >= 0.75 on new data, with confidence 0.95" in repr(found)
    assert found.single.guarantee.confidence == 0.95


def test_infinite_scores_are_certified():
    """Rows with a score of +inf are called positive by every threshold, and count in the certificate."""
    y, s, by = drawn(3, 400, 0.3, 0)
    s[::50], y[::50] = np.inf, 0
    found = cp.find_joint(y, s, by=by, maximize="recall", subject_to="fpr <= 0.2", guarantee=0.9)

    assert found.confusion.fp >= (s == np.inf).sum()
    assert int((1 - y)[found.decide(s, by) == 1].sum()) == found.confusion.fp


def test_nothing_certified():
    """With too few rows the status says so, and the error how many more rows would do."""
    y, s, by = drawn(3, 20, 0.3, 0)
    found = cp.find_joint(y, s, by=by, maximize="recall", subject_to="precision >= 0.95", guarantee=0.95)

    assert (found.status, found.value, dict(found)) == ("none_certified", None, {})
    assert "none certified" in repr(found)
    assert json.loads(json.dumps(found.to_dict()))["guarantee"]["certified"] == 0
    with pytest.raises(InfeasibleError, match=r"can be certified to meet 'precision >= 0\.95' on new data"):
        found.raise_if_infeasible()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subject_to": "predicted_positive <= 5"}, "use predicted_positive_rate"),
        (
            {"subject_to": "precision >= 0.5", "each": "recall >= 0.1"},
            "each must be left out when 'guarantee'",
        ),
        ({"subject_to": "precision >= 0.5", "gap": "recall <= 0.1"}, "gap must be left out when 'guarantee'"),
        ({"subject_to": "precision >= 0.5", "sample_weight": [1.5, 1]}, "unless every row counts as one"),
        ({"subject_to": "precision >= 0.5", "guarantee": 95}, "a number between 0 and 1"),
        ({}, "used with a constraint"),
    ],
)
def test_what_cannot_be_certified(options, message):
    """What has no exact test over all rows is refused, with a way out."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.find_joint([0, 1], [0.1, 0.2], by=["a", "b"], maximize="recall", **{"guarantee": 0.9, **options})
