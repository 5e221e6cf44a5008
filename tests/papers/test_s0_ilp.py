"""The 0-1 program of the first document: as written, with its misprints corrected."""

import numpy as np
import pytest

import cutpoints as cp
import oracle
from cutpoints import ilp
from cutpoints.exceptions import SolverError

Y = np.array([0, 0, 1, 1, 0, 1, 1])
S = np.array([0.1, 0.2, 0.3, 0.4, 0.4, 0.8, 0.9])


def rounded(n, decimals, seed=0):
    """Scores of some decimals, and labels that follow them."""
    rng = np.random.default_rng(seed)
    scores = np.round(1 / (1 + np.exp(-1.2 * rng.normal(size=n))), decimals)
    return (rng.random(n) < scores).astype(int), scores


def exhaustive(labels, scores):
    """The document's exhaustive search: one pass over all rows for each distinct score, and nobody."""
    best = int((labels == 0).sum())
    for t in np.unique(scores):
        best = max(best, int(((scores >= t) == labels).sum()))
    return best


def test_0_1_accuracy_is_one_minus_the_mean_error():
    """(TP + TN) / n and 1 - mean |y - y~| have the same integer numerator at every cut."""
    for cut in cp.curve(Y, S).thresholds:
        called = (S >= cut).astype(int)
        confusion = cp.curve(Y, S).at(cut).confusion
        assert confusion.tp + confusion.tn == len(Y) - np.abs(Y - called).sum()


def test_0_2_a_score_at_the_threshold_is_positive():
    """The rule of the program is y~ = 1 iff score >= t: a score equal to t is positive."""
    s = ilp.formulate([1, 0], [0.8, 0.3], maximize="accuracy", formulation="document").solve()

    assert 0.8 == s.threshold
    assert [1, 0] == s.decide([0.8, np.nextafter(0.8, 0)]).tolist()


def test_0_3_size_of_the_program():
    """2N binaries and one continuous t in [0, 1]; 4N rows."""
    model = ilp.formulate(Y, S, maximize="accuracy", formulation="document")
    n = len(Y)

    assert (4 * n, 2 * n + 1) == model.A.shape
    assert [True] * (2 * n) + [False] == model.integer.tolist()
    assert (0, 1) == (model.lower[-1], model.upper[-1])
    assert [f"z{i}" for i in range(1, n + 1)] == model.variables[:n]
    assert "t" == model.variables[-1]


@pytest.mark.parametrize("y", [(1, 0), (0, 1), (1, 1)])
def test_0_4_matrices_for_two_rows(y):
    """A, b and w for N = 2 are the document's, with the entries that its print lost."""
    p1, p2, eps = 0.8, 0.3, 0.01
    model = ilp.formulate(y, (p1, p2), maximize="accuracy", formulation="document", epsilon=eps)

    expected = [
        [1, 0, 1, 0, 0],
        [0, 1, 0, 1, 0],
        [1, 0, -1, 0, 0],
        [0, 1, 0, -1, 0],
        [0, 0, p1, 0, 1],
        [0, 0, 0, p2, 1],
        [0, 0, p1 - 1, 0, -1],
        [0, 0, 0, p2 - 1, -1],
    ]
    assert expected == model.A.toarray().tolist()
    assert [y[0], y[1], -y[0], -y[1], p1 + eps, p2 + eps, -1, -1] == model.b.tolist()
    assert [1, 1, 0, 0, 0] == model.w.tolist()
    assert ["z1", "z2", "y1", "y2", "t"] == model.variables


def test_0_5_two_rows_in_order():
    """y = (1, 0) with scores .8 and .3: no error, and t in [.31, .80]."""
    model = ilp.formulate([1, 0], [0.8, 0.3], maximize="accuracy", formulation="document", epsilon=0.01)
    run = model.run()

    assert (1.0, 1.0, 0.8) == (run.claimed, run.value, run.threshold)
    assert 0.31 - 1e-6 <= run.t <= 0.80 + 1e-6
    assert (0.3, 0.8) == model.solve().interval


def test_0_6_two_rows_out_of_order():
    """y = (1, 0) with scores .3 and .8: one error, by both families of thresholds."""
    model = ilp.formulate([1, 0], [0.3, 0.8], maximize="accuracy", formulation="document", epsilon=0.01)
    s = model.solve()

    assert 0.5 == s.value
    assert [np.inf, 0.3] == [s.threshold, *(tie.threshold for tie in s.ties)]


@pytest.mark.parametrize("formulation", ["chain", "document"])
def test_0_7_recall_alone_calls_everybody_positive(formulation):
    """The recall program has no z, half of the rows, and the optimum 1; a constraint gives it sense."""
    free = ilp.formulate(Y, S, maximize="recall", formulation=formulation)
    bound = ilp.formulate(Y, S, maximize="recall", subject_to="precision >= 0.9", formulation=formulation)

    if formulation == "document":
        assert (2 * len(Y), len(Y) + 1) == free.A.shape
    assert 1.0 == free.solve().value
    assert (0.5, 0.8) == (bound.solve().value, bound.solve().threshold)


def test_0_8_the_documents_weights_pick_another_threshold():
    """alpha*accuracy + beta*recall: the true optimum is 7/6 at .1; the printed weights pick nobody."""
    y, s = [1, 0, 0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    asked = {"maximize": "accuracy + recall", "formulation": "document"}

    right = ilp.formulate(y, s, **asked).solve()
    printed = ilp.formulate(y, s, **asked, as_printed=True)

    assert (0.1, 7 / 6) == (right.threshold, right.value)
    assert (np.inf, 5 / 6) == (printed.run().threshold, printed.run().value)
    assert [1] * 6 + [-1] + [0] * 6 == printed.w.tolist()
    with pytest.raises(SolverError, match=r"the best cut attains 1\.1666"):
        printed.solve()


@pytest.mark.parametrize("formulation", ["chain", "document"])
def test_0_9_precision_is_a_ratio(formulation):
    """Precision, TP over those called positive, needs at least one of them, and a few programs."""
    y, s = [0, 1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.1]
    model = ilp.formulate(y, s, maximize="precision", formulation=formulation)

    assert (2 / 3, 0.7) == (model.solve().value, model.solve().threshold)
    if formulation == "document":
        assert [1] * 6 + [0] == model.A.toarray()[-1].tolist()
        assert 1 == model.b[-1]


@pytest.mark.parametrize(
    ("y", "s", "printed", "true"),
    [
        ((0, 0, 0), (1, 1, 1), 0, 3),
        ((1, 1, 1), (0, 0, 0), 0, 3),
        ((1, 0, 0, 0), (0, 0.3, 0.6, 1), 2, 3),
    ],
)
def test_scores_of_exactly_0_and_1(y, s, printed, true):
    """With 0 <= t <= 1 a score of 1 is never negative and one of 0 never positive; widened, all is well."""
    asked = {"maximize": "accuracy", "formulation": "document"}
    narrow = ilp.formulate(y, s, **asked, as_printed=True, epsilon=0.01)

    assert printed == round(narrow.run().value * len(y))
    with pytest.raises(SolverError, match="but the best cut attains"):
        narrow.solve()
    assert true == round(ilp.formulate(y, s, **asked).solve().value * len(y))


@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("n", [50, 120])
def test_0_11_and_0_12_everything_agrees_with_the_exhaustive_search(n, decimals):
    """The exhaustive search, the sweep, the chain and the document's program have one optimum."""
    y, s = rounded(n, decimals)
    best = exhaustive(y, s)

    assert best == round(cp.find(y, s, maximize="accuracy", method="sweep").value * n)
    assert best == round(cp.find(y, s, maximize="accuracy", method="ilp").value * n)
    model = ilp.formulate(y, s, maximize="accuracy", formulation="document")
    assert best == round(model.solve().value * n)
    rows = [(score, label, 1 - label) for score, label in zip(s.tolist(), y.tolist(), strict=True)]
    answer = oracle.solve(rows, oracle.Sum((oracle.Term("accuracy"),)), "maximize")
    assert best == answer.value.number * n


def test_0_10_table_1_is_transcribed_and_every_method_of_the_benchmark_agrees():
    """39 rows, 97 numbers and 59 question marks; on a small row all six methods have one optimum."""
    from benchmarks import table1

    published = [x for row in table1.DOCUMENT for x in row[2:]]
    assert 39 == len(table1.DOCUMENT)
    assert (156, 59) == (len(published), published.count(None))

    y, s = table1.problem(150, 2)
    cells = {name: table1.cell(name, y, s, 20.0) for name in table1.METHODS}

    assert all(found["finished"] for found in cells.values())
    assert {exhaustive(y, s)} == {found["correct"] for found in cells.values()}


def test_0_10_a_method_that_passes_the_limit_is_not_run_on_more_rows(monkeypatch):
    """The benchmark stops a method at its limit, and says "not run" for larger rows of the same decimals."""
    from benchmarks import table1

    rows = ((300, 2, None, None, None, None), (400, 2, None, None, None, None))
    monkeypatch.setattr(table1, "DOCUMENT", rows)
    monkeypatch.setattr(table1, "METHODS", {k: table1.METHODS[k] for k in ("loop", "sweep")})
    result = table1.measure(1e-9)
    shown = [table1.verdict(row, "loop", 1e-9) for row in result["rows"]]

    assert ["> 1e-09", "not run"] == shown
