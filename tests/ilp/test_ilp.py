"""The 0-1 program: the same answer as the sweep, or a clear word why not."""

import io
import math
import pickle
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
import swiglpk as glpk
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import ask, assert_answer, everything
from cutpoints import ilp
from cutpoints._ilp import files as _files
from cutpoints._ilp import highs as _highs
from cutpoints._ilp import run as _run
from cutpoints._ilp import time_limit
from cutpoints.exceptions import (
    CutpointError,
    InfeasibleError,
    InvalidInputError,
    InvalidParameterError,
    SolverError,
)
from oracle import solve as truth
from strategies import Problem, conjunctions, directions, objectives, problems, scores

Y = [0, 0, 1, 1, 0, 1, 1, 0]
S = [0.1, 0.2, 0.3, 0.4, 0.4, 0.8, 0.9, 0.85]
LINEAR = ("accuracy", "recall", "0.7*accuracy + 0.3*recall", "youden_j", "net_benefit(at=0.2)")
RATIOS = ("precision", "f1", "f(beta=2)", "jaccard", "npv", "kappa")


def rounded(n, decimals, seed=0):
    """Scores of some decimals, and labels that follow them."""
    rng = np.random.default_rng(seed)
    column = np.round(1 / (1 + np.exp(-1.2 * rng.normal(size=n))), decimals)
    return (rng.random(n) < column).astype(int), column


def outcome(problem, direction, objective, constraints, method):
    """A solution, or the kind of error."""
    try:
        return ask(problem, direction, objective.text, subject_to=constraints, method=method)
    except CutpointError as error:
        return error


# --- the same answer


@settings(max_examples=150)
@given(problems(), objectives(), directions, conjunctions(2))
def test_find_by_ilp_equals_the_sweep(problem, objective, direction, constraints):
    """`find(method="ilp")` is the sweep bit for bit, ties and infeasibility included, or refuses."""
    texts = [constraint.text for constraint in constraints]
    by_ilp = outcome(problem, direction, objective, texts, "ilp")
    if isinstance(by_ilp, InvalidParameterError):
        assert "find takes any objective" in str(by_ilp)
        return
    by_sweep = outcome(problem, direction, objective, texts, "sweep")

    assert type(by_sweep) is type(by_ilp)
    if not isinstance(by_ilp, Exception):
        assert by_sweep.status == by_ilp.status
        assert everything(by_sweep) == everything(by_ilp)
        assert "ilp" == by_ilp.certificate.method


def test_costs_that_cancel_are_no_fault_of_the_solver():
    """Two cuts are tied, but the difference of their costs, taken of large floats, is not zero."""
    labels = np.zeros(17, dtype=np.int8)
    labels[[7, 16]] = 1
    weights = np.array([0.0] * 6 + [0.1, 0.1] + [0.2] * 8 + [0.3])
    by_ilp = cp.find(labels, np.zeros(17), maximize="balanced_accuracy", sample_weight=weights, method="ilp")
    by_sweep = cp.find(
        labels, np.zeros(17), maximize="balanced_accuracy", sample_weight=weights, method="sweep"
    )

    assert everything(by_sweep) == everything(by_ilp)
    assert (0.5, 1) == (by_ilp.value, len(by_ilp.ties))


@pytest.mark.parametrize("weight", [1e-49, 1e-9, 1.0, 1e9])
def test_constraints_hold_on_weights_of_any_size(weight):
    """What is less than the tolerance of a solver in all is not taken for nothing."""
    found = cp.find(
        [0], [0.0], maximize="accuracy", subject_to="accuracy <= 0", sample_weight=[weight], method="ilp"
    )

    assert ("optimal", 0.0, 0.0) == (found.status, found.threshold, found.value)


def test_a_row_need_not_tell_apart_where_its_metric_is_undefined():
    """Nobody positive has no precision: that says nothing of the cuts that have one of 0."""
    asked = {"maximize": "specificity", "subject_to": "precision > 0", "sample_weight": [0.2, 0.1]}
    by_sweep, by_ilp = (cp.find([1, 0], [0.1, 0.2], method=method, **asked) for method in ("sweep", "ilp"))

    assert (0.1, 0.0) == (by_ilp.threshold, by_ilp.value)
    assert everything(by_sweep) == everything(by_ilp)


def test_weights_far_apart_are_solved():
    """A weight of 1e-11 beside one of a million is below the grid: 0 for every method."""
    asked = {"maximize": "npv", "sample_weight": [1e-11, 1e6, 10.0]}
    by_sweep, by_ilp = (cp.find([0, 0, 1], [0.1, 0.2, 0.3], method=m, **asked) for m in ("sweep", "ilp"))

    assert 1.0 == by_ilp.value
    assert everything(by_sweep) == everything(by_ilp)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.floats(1e-3, 10.0)), min_size=2, max_size=10),
    st.sampled_from([*LINEAR, *RATIOS, "specificity"]),
    st.sampled_from([(), ("precision > 0",), ("precision >= 0.5",), ("npv > 0.3", "recall > 0.2")]),
)
def test_float_weights_are_solved_or_infeasible(rows, objective, constraints):
    """With weights of any digits the program has the sweep's answer, and never fails."""
    column, labels, weights = zip(*rows, strict=True)
    asked = {"maximize": objective, "subject_to": constraints, "sample_weight": weights}
    try:
        expected = cp.find(labels, column, method="sweep", **asked)
    except InvalidInputError:
        return

    assert everything(expected) == everything(cp.find(labels, column, method="ilp", **asked))


@settings(max_examples=40)
@given(
    st.sampled_from([*LINEAR, *RATIOS]),
    st.sampled_from([(), ("precision >= 0.5",), ("fpr <= 0.3", "recall > 0.2")]),
    scores(max_size=12),
    st.booleans(),
    st.data(),
)
def test_document_form_equals_the_sweep(objective, constraints, column, group, data):
    """The document's program too has the sweep's answer, on scores of any size, infinite ones too."""
    labels = data.draw(st.lists(st.integers(0, 1), min_size=len(column), max_size=len(column)))
    problem = Problem("unweighted", column, np.array(labels, dtype=np.int8))
    try:
        expected = ask(problem, "maximize", objective, subject_to=constraints, method="sweep")
    except InvalidInputError as error:
        with pytest.raises(type(error)):
            ilp.formulate(labels, column, maximize=objective, formulation="document", group=group).solve()
        return
    model = ilp.formulate(
        labels, column, maximize=objective, subject_to=constraints, formulation="document", group=group
    )

    assert everything(expected) == everything(model.solve())


@pytest.mark.parametrize("group", [False, True])
def test_pairs_of_the_document(group):
    """One pair (z, y) for each row, or for each distinct score, with the same optimum."""
    y, s = rounded(300, 1)
    model = ilp.formulate(y, s, maximize="accuracy", formulation="document", group=group)
    pairs = len(np.unique(s)) if group else 300

    assert (4 * pairs, 2 * pairs + 1) == model.A.shape
    assert (pairs if group else 600) == model.integer.sum()
    assert cp.find(y, s, maximize="accuracy").confusion == model.solve().confusion


@pytest.mark.parametrize(
    "options", [{}, {"formulation": "document"}, {"formulation": "document", "group": True}]
)
@pytest.mark.parametrize("objective", [*LINEAR, *RATIOS])
def test_weights_and_counted_rows(objective, options):
    """Weighted rows and counted rows have the oracle's optimum in all formulations."""
    rng = np.random.default_rng(3)
    column, pos, neg = np.arange(8) / 8, rng.integers(0, 4, 8), rng.integers(0, 4, 8)
    counted = ilp.formulate(
        cp.from_counts(column, positives=pos, negatives=neg), maximize=objective, **options
    ).solve()
    weighted = ilp.formulate(
        np.repeat([1, 0], 8),
        np.tile(column, 2),
        sample_weight=np.append(pos, neg),
        maximize=objective,
        **options,
    ).solve()
    problem = Problem("counted rows", column, positives=pos.astype(float), negatives=neg.astype(float))
    expected = ask(problem, "maximize", objective, method="sweep")

    assert expected.value == counted.value == weighted.value
    assert expected.threshold == counted.threshold == weighted.threshold


def test_the_oracle_agrees():
    """Fractions that know nothing of the package have the same optimum, interval and ties."""
    from oracle import Sum, Term

    rows = list(zip(S, Y, [1 - y for y in Y], strict=True))
    expected = truth(rows, Sum((Term("f1"),)), "maximize")

    assert_answer(expected, ilp.formulate(Y, S, maximize="f1").solve(), Sum((Term("f1", {}),)))


# --- the matrices


def test_relaxation_of_the_chain_is_whole():
    """Every vertex of the chain is 0/1: random costs never have a fractional optimum."""
    rng = np.random.default_rng(0)
    program = ilp.formulate(*rounded(400, 3), maximize="accuracy")._posed.program
    solver = _highs.Solver(program)

    assert not program.integer.any()
    for _ in range(20):
        y = solver.relax(rng.normal(size=len(program.lower)))
        assert set(np.round(y, 9)) <= {0.0, 1.0}
        assert (np.diff(y) >= -1e-9).all()


def test_chain_matrix_is_that_of_a_network():
    """One +1 and one -1 in each row, one variable per distinct score."""
    A = ilp.formulate(Y, S, maximize="accuracy").A.toarray()

    assert (len(set(S)) - 1, len(set(S))) == A.shape
    assert (np.sort(A, axis=1)[:, [0, -1]] == [-1, 1]).all()
    assert (2 == (A != 0).sum(axis=1)).all()


def test_chain_is_totally_unimodular():
    """All square submatrices of a small chain have determinant -1, 0 or 1."""
    from itertools import combinations

    A = ilp.formulate([0, 1, 0, 1, 1], [1, 2, 3, 4, 5], maximize="accuracy").A.toarray()
    found = set()
    for size in range(1, 5):
        for rows in combinations(range(4), size):
            for columns in combinations(range(5), size):
                found.add(round(np.linalg.det(A[np.ix_(rows, columns)])))

    assert {-1, 0, 1} == found


def test_a_constraint_breaks_integrality_and_is_solved_in_whole_numbers():
    """Buckets (3,0), (1,1), (1,0), precision >= .9: the relaxation says 3.857, the answer is 3."""
    data = cp.from_counts([0.9, 0.5, 0.1], positives=[3, 1, 1], negatives=[0, 1, 0])
    model = ilp.formulate(data, maximize="recall", subject_to="precision >= 0.9")
    mixture = model.mixture()

    assert model.integer.all()
    assert (0.6, 0.9) == (model.solve().value, model.solve().threshold)
    assert 27 / 7 == pytest.approx(5 * mixture.value)
    assert (0.9, 0.1) == mixture.thresholds
    assert [4 / 7, 3 / 7] == pytest.approx(mixture.probabilities)


def test_a_fractional_answer_is_never_returned(monkeypatch):
    """If a relaxation that should be whole is not, it is solved again with whole numbers."""
    data = cp.from_counts([0.9, 0.5, 0.1], positives=[3, 1, 1], negatives=[0, 1, 0])
    posed = ilp.formulate(data, maximize="recall", subject_to="precision >= 0.9")._posed
    posed.program.integer[:] = False

    run = _run.run(posed)

    assert (0.9, 0.6, True) == (run.threshold, run.value, run.recounts)


def test_rows_of_constraints():
    """precision >= .9 is TP - 9 FP >= 0 and somebody positive; counts stay whole numbers."""
    model = ilp.formulate(
        [1, 0, 1],
        [0.2, 0.5, 0.7],
        maximize="recall",
        subject_to=["precision >= 0.9", "predicted_positive < 3"],
        formulation="document",
    )
    rows = model.A.toarray()[-3:]

    assert [[1, -9, 1, 0], [1, 1, 1, 0], [-1, -1, -1, 0]] == rows.tolist()
    assert [0, 1, -2] == model.b[-3:].tolist()


def test_at_least_one_positive_is_a_bound_of_the_chain():
    """For precision the topmost variable is fixed to 1, which keeps the relaxation exact."""
    model = ilp.formulate(Y, S, maximize="precision")

    assert not model.integer.any()
    assert 1 == model.lower[-1]
    assert 0 == model.lower[:-1].sum()


# --- epsilon


@pytest.mark.parametrize(
    ("column", "epsilon", "ranks"),
    [
        ([0.1, 0.2, 0.4], 0.05, False),
        ([0.12345, 0.12346, 0.5], 5e-6, False),
        ([0.123456, 0.123457, 0.5], 0.5, True),
        ([0.0, 5e-324, 1.0], 0.5, True),
        ([-math.inf, 0.0, 1.0], 0.5, True),
        ([-1e308, 0.0, 1e308], 0.5, True),
        ([100.0, 200.0, 400.0], 50.0, False),
        ([7.0, 7.0, 7.0], 0.35, False),
    ],
)
def test_epsilon_is_chosen_from_the_gap_or_ranks_are_used(column, epsilon, ranks):
    """Half the smallest gap where a solver can see it, ranks one apart where it cannot; it says which."""
    model = ilp.formulate([1, 0, 1], column, maximize="accuracy", formulation="document")

    assert epsilon == pytest.approx(model.epsilon, rel=1e-9)
    assert ranks == model.uses_ranks
    assert ("ranks" in model.epsilon_reason) == ranks
    assert cp.find([1, 0, 1], column, maximize="accuracy").value == model.solve().value


def test_an_epsilon_above_the_gap_gives_a_wrong_optimum():
    """Epsilon .01 with a gap of .001 forbids the best threshold; the answer is reported, not returned."""
    y, s = [0, 0, 1, 1], [0.100, 0.500, 0.501, 0.9]
    model = ilp.formulate(y, s, maximize="accuracy", formulation="document", epsilon=0.01)
    run = model.run()

    assert ("optimal", 0.75, True) == (run.status, run.value, run.recounts)
    with pytest.raises(SolverError, match=r"found 0\.75, but the best cut attains 1\.\n\nHint: an epsilon"):
        model.solve()
    assert 1.0 == ilp.formulate(y, s, maximize="accuracy", formulation="document").solve().value


def test_an_epsilon_below_the_tolerance_splits_ties():
    """With epsilon 0 equal scores get different labels; the answer is reported, not returned."""
    y, s = [1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5]
    model = ilp.formulate(y, s, maximize="accuracy", formulation="document", epsilon=0)
    run = model.run()

    assert run.claimed > 0.5 + 1e-3
    assert not run.recounts
    with pytest.raises(SolverError, match=r"not those of any threshold.*Claimed 1, counted 0\.5"):
        model.solve()
    assert 0.5 == ilp.formulate(y, s, maximize="accuracy", formulation="document").solve().value


@pytest.mark.parametrize("formulation", ["chain", "document"])
@pytest.mark.parametrize(
    ("y", "s", "threshold"),
    [
        ([0, 0, 0], [0.0, 0.5, 1.0], math.inf),
        ([1, 1, 1], [0.0, 0.5, 1.0], 0.0),
        ([0, 1, 1], [0.0, 1.0, 1.0], 1.0),
        ([1, 0, 0], [0.0, 0.0, 0.0], math.inf),
        ([1, 0, 0], [math.inf, 0.0, -math.inf], math.inf),
        ([0, 0, 1], [math.inf, 0.0, -math.inf], math.inf),
    ],
)
def test_nobody_everybody_and_scores_at_the_edges(formulation, y, s, threshold):
    """Scores of 0, 1 and infinity, nobody positive and everybody positive are answers like any other."""
    solution = ilp.formulate(y, s, maximize="accuracy", formulation=formulation).solve()

    assert threshold == solution.threshold
    assert cp.find(y, s, maximize="accuracy").value == solution.value


# --- the solver


def test_time_limit_gives_the_best_so_far_and_an_honest_bound():
    """Stopped early: a threshold that recounts, a status that says so, and a bound above the optimum."""
    y, s = rounded(3000, 4)
    model = ilp.formulate(y, s, maximize="accuracy", formulation="document")
    began = time.perf_counter()
    solution = model.solve(time_limit=1)
    best = cp.find(y, s, maximize="accuracy").value

    assert time.perf_counter() - began < 30
    assert "time_limit" == solution.status
    assert solution.value == solution.certificate.lower <= best <= solution.certificate.upper
    assert solution.value == np.mean(solution.decide(s) == y)
    assert "stopped at the time limit" in repr(solution)
    assert "time_limit" == solution.to_dict()["status"]
    assert solution.to_dict()["metrics"]["accuracy"] == solution.value


def test_a_limited_search_that_suffices_is_optimal():
    """A time limit that is not reached changes nothing."""
    solution = ilp.formulate(*rounded(60, 2), maximize="f1", formulation="document").solve(time_limit=60)

    assert "optimal" == solution.status
    assert solution.certificate.lower == solution.certificate.upper == solution.value


def test_time_limit_without_any_threshold_is_an_error(monkeypatch):
    """A constraint that no known cut meets, and no time: there is nothing to return, and it says so."""
    y, s = rounded(200, 3)
    model = ilp.formulate(y, s, maximize="recall", subject_to=["precision >= 0.7", "recall >= 0.1"])
    nothing = _highs.Reply("time_limit", None, math.inf, -math.inf, 0, 1.0)
    monkeypatch.setattr(time_limit, "minimize", lambda *args, **options: nothing)

    with pytest.raises(SolverError, match=r"found none; no threshold is better than 1\."):
        model.solve(time_limit=1)


def test_gap_stops_early_and_says_so():
    """Within the gap the status is gap_limit, unless the bound closes by itself; the bound holds."""
    y, s = rounded(800, 3)
    solution = ilp.formulate(y, s, maximize="accuracy", formulation="document").solve(gap=0.9)
    best = cp.find(y, s, maximize="accuracy").value

    assert solution.status in ("gap_limit", "optimal")
    assert solution.value <= best <= solution.certificate.upper
    assert (solution.status == "optimal") == (solution.value == solution.certificate.upper)


def test_log_gets_the_solvers_words(capfd):
    """The log goes to the caller's function, and nothing to standard output."""
    lines = []
    ilp.formulate(*rounded(40, 2), maximize="accuracy").solve(log=lines.append)
    limited = []
    ilp.formulate(*rounded(40, 2), maximize="accuracy", formulation="document").solve(
        log=limited.append, time_limit=30
    )

    assert any("HiGHS" in line for line in lines)
    assert any("MIP" in line for line in limited)
    assert ("", "") == capfd.readouterr()


def test_a_solver_failure_is_a_clear_error(monkeypatch):
    """What the solver says is passed on, with a hint at a method that needs none."""
    monkeypatch.setattr(_highs.Solver, "_run", lambda self: None)

    with pytest.raises(SolverError, match=r"(?s)HiGHS must end with an answer.*Hint: the sweep of find"):
        ilp.formulate(Y, S, maximize="accuracy").solve()


@pytest.mark.filterwarnings("error")
def test_a_child_that_dies_is_a_clear_error(monkeypatch):
    """A solver process that cannot start is reported."""
    monkeypatch.setattr(time_limit, "_CHILD", "raise SystemExit(1)")

    with pytest.raises(SolverError, match="its process did not start"):
        ilp.formulate(Y, S, maximize="accuracy", formulation="document").solve(time_limit=5)


@pytest.mark.parametrize(
    ("asked", "labels", "total", "fault"),
    [
        ({}, [0, 1, 1, 0], None, "not those of any threshold"),
        ({}, [0, 0, 0, 0], None, "calls an infinite score negative"),
        ({}, [0, 0, 1, 1], -17.0, "its cost is 0 and not -17"),
        ({"subject_to": "recall >= 0.9"}, [0, 0, 0, 1], None, "does not meet the constraints"),
    ],
)
def test_whatever_does_not_recount_is_found(asked, labels, total, fault):
    """Labels that no threshold gives, a cost that is not theirs, a constraint that fails: each is told."""
    posed = ilp.formulate([1, 0, 0, 1], [0.1, 0.2, 0.3, math.inf], maximize="accuracy", **asked)._posed
    cost = posed.cost()
    x = np.array(labels, dtype=float)
    reply = _highs.Reply("optimal", x, float(cost.w @ x) if total is None else total, 0.0, 0, 0.0)
    feasible = posed.cuts.feasible(posed.goal.constraints)

    assert fault in _run._recount(posed, cost, reply, feasible)[2]


def test_ctrl_c_ends_the_solver(monkeypatch):
    """An interrupt stops the solver's thread and is passed on."""
    threads = []

    class Interrupted(threading.Thread):
        def join(self, timeout=None):
            if timeout is not None:
                threads.append(self)
                raise KeyboardInterrupt
            super().join()

    model = ilp.formulate(*rounded(300, 2), maximize="accuracy", formulation="document")
    monkeypatch.setattr(_highs, "Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.solve()

    assert [False] == [thread.is_alive() for thread in threads]


def served(posed, *, wants_log=False):
    """What a child process tells about a program, run in this process."""
    source, sink = io.BytesIO(), io.BytesIO()
    pickle.dump((posed.program, posed.cost().w, 30.0, 0.0, wants_log), source)
    source.seek(0)
    time_limit.serve(source, sink)
    told, end = [], sink.tell()
    sink.seek(0)
    while sink.tell() < end:
        told.append(pickle.load(sink))  # noqa: S301 - our own bytes
    return told


def test_the_child_tells_answers_bounds_and_the_end():
    """A limited search tells of itself on the way, so that what was found survives its end."""
    posed = ilp.formulate(*rounded(60, 2), maximize="accuracy", formulation="document")._posed
    told = served(posed, wants_log=True)

    kinds = [kind for kind, _ in told]
    assert ("began", "reply") == (kinds[0], kinds[-1])
    assert {"answer", "bound", "log"} <= set(kinds)
    assert min(what[1] for kind, what in told if kind == "answer") == pytest.approx(told[-1][1].total)


def test_a_failure_in_the_child_is_passed_on(monkeypatch):
    """What the solver said in its own process reaches the error of this one."""
    posed = ilp.formulate(Y, S, maximize="accuracy", formulation="document")._posed
    monkeypatch.setattr(_highs.Solver, "_run", lambda self: None)
    assert ("failed", "Not Set") == served(posed)[-1]

    child = (
        "import pickle as p, sys as s; s.stdin.buffer.read(); p.dump(('failed', 'Trouble'), s.stdout.buffer)"
    )
    monkeypatch.setattr(time_limit, "_CHILD", child)
    with pytest.raises(SolverError, match="It ended with: Trouble"):
        _run.run(posed, time_limit=5)


def test_a_wrong_infeasible_is_reported(monkeypatch):
    """A solver that finds no feasible cut where there is one is not believed."""
    model = ilp.formulate(Y, S, maximize="recall", subject_to="precision >= 0.5")
    run = model.run()
    wrong = _run.Run(**{**vars(run), "status": "infeasible", "index": None, "value": None})

    with pytest.raises(SolverError, match="that no cut is feasible, but the best cut attains"):
        model.believe(wrong)


def test_infeasible_says_what_can_be_attained():
    """No cut meets the constraint: the status says so, with the best that any cut attains."""
    solution = ilp.formulate(Y, S, maximize="recall", subject_to="precision >= 1.5").solve()

    assert "infeasible" == solution.status
    assert 1.5 > solution.attainable[0].value > 0
    with pytest.raises(InfeasibleError, match="No threshold meets"):
        solution.raise_if_infeasible()


def test_dinkelbach_takes_a_few_steps():
    """A ratio takes a handful of programs, a linear objective one."""
    y, s = rounded(3000, 4)

    assert 1 == ilp.formulate(y, s, maximize="accuracy").run().steps
    assert 2 <= ilp.formulate(y, s, maximize="f1").run().steps <= 8


# --- files


def solved_by_glpk(path):
    """Read a file with GLPK and return its optimum and its size."""
    glpk.glp_term_out(glpk.GLP_OFF)
    problem = glpk.glp_create_prob()
    if path.suffix == ".lp":
        assert 0 == glpk.glp_read_lp(problem, None, str(path))
    else:
        assert 0 == glpk.glp_read_mps(problem, glpk.GLP_MPS_FILE, None, str(path))
    assert 0 == glpk.glp_simplex(problem, None)
    whole = glpk.glp_get_num_int(problem)
    if whole:
        assert 0 == glpk.glp_intopt(problem, None)
    optimum = glpk.glp_mip_obj_val(problem) if whole else glpk.glp_get_obj_val(problem)
    size = (glpk.glp_get_num_rows(problem), glpk.glp_get_num_cols(problem), whole)
    glpk.glp_delete_prob(problem)
    return optimum, size


@pytest.mark.parametrize("ending", [".lp", ".mps", ".LP"])
@pytest.mark.parametrize(
    "asked",
    [
        {"maximize": "accuracy"},
        {"maximize": "accuracy", "formulation": "document"},
        {"maximize": "0.3*accuracy + 0.7*recall", "formulation": "document"},
        {"minimize": "cost(fp=2, fn=1)", "subject_to": "recall >= 0.5"},
        {"maximize": "recall", "subject_to": ["precision >= 0.7", "fpr < 0.4"]},
    ],
    ids=str,
)
def test_written_file_is_solved_alike_by_another_solver(tmp_path, asked, ending):
    """GLPK reads what is written, of the same size, and finds the same optimum."""
    y, s = rounded(40, 2)
    model = ilp.formulate(y, s, **asked)
    path = tmp_path / f"model{ending}"
    model.write(path)
    optimum, size = solved_by_glpk(path.rename(path.with_suffix(ending.lower())))

    assert (*model.A.shape, int(model.integer.sum())) == size
    worth = model._posed.cost().worth(optimum) * model.goal.sign
    assert cp.find(y, s, **{k: v for k, v in asked.items() if k != "formulation"}).value == pytest.approx(
        worth
    )


@pytest.mark.parametrize("ending", [".lp", ".mps"])
def test_a_ratio_is_written_step_by_step(tmp_path, ending):
    """At the optimal value of F1 another solver finds nothing better than 0; below it, it does."""
    model = ilp.formulate(*rounded(60, 2), maximize="f1")
    best = model.solve().confusion.fractions()
    value = Fraction(2 * best["tp"], 2 * best["tp"] + best["fp"] + best["fn"])
    for at, better in ((value, False), (Fraction(1, 4), True)):
        path = tmp_path / f"step{ending}"
        model.write(path, value=at)
        worth = model._posed.cost(at).worth(solved_by_glpk(path)[0])
        assert better == (worth > 1e-6)
        assert worth > -1e-6


def test_one_distinct_score_is_a_file_too(tmp_path):
    """A program of one variable and no rows is written and read."""
    model = ilp.formulate([1, 0, 1], [0.5, 0.5, 0.5], maximize="accuracy")
    model.write(tmp_path / "one.mps")

    assert (-1.0, (0, 1, 0)) == solved_by_glpk(tmp_path / "one.mps")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """A disk that is full half-way leaves the file of before, and nothing beside it."""
    path = tmp_path / "model.lp"
    model = ilp.formulate(Y, S, maximize="accuracy")
    model.write(path)
    before = path.read_text()

    def full(*args):
        yield "half of a file"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_files, "_lp", full)
    with pytest.raises(InvalidInputError, match="No space left"):
        model.write(path)

    assert before == path.read_text()
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["model.txt", "model"])
def test_bad_path(tmp_path, name):
    """A name without a known ending is refused before anything is written."""
    with pytest.raises(InvalidParameterError, match=r"^path must"):
        ilp.formulate(Y, S, maximize="accuracy").write(tmp_path / name)


def test_no_folder(tmp_path):
    """A folder that is not there is named."""
    with pytest.raises(InvalidInputError, match=r"missing.model\.lp' cannot be written"):
        ilp.formulate(Y, S, maximize="accuracy").write(tmp_path / "missing" / "model.lp")


# --- bad input


@pytest.mark.parametrize("method", ["find", "chain", "document"])
@pytest.mark.parametrize(
    ("y", "s", "objective", "message"),
    [
        ([], [], "accuracy", "at least one row"),
        ([0, 1], [0.1, math.nan], "accuracy", "'y_score' must not contain NaN"),
        ([0, 0], [0.1, 0.2], "recall", "0/0 at every cut of data with 0 positives"),
        ([1, 1], [0.1, 0.2], "balanced_accuracy", "and 0 negatives"),
        ([0, 1, 2], [0.1, 0.2, 0.3], "accuracy", "two distinct labels"),
        ([0, 1], [0.1, 0.2], "mcc", "linear in tp and fp.*Hint: .*find takes any objective"),
        ([0, 1], [0.1, 0.2], "precision + recall", "linear in tp and fp"),
        ([0, 1], [0.1, 0.2], lambda tp, fp, fn, tn: tp, "linear in tp and fp"),
        ([0, 1], [0.1, 0.2], "lr_plus", "finite at every cut"),
    ],
)
def test_bad_input(method, y, s, objective, message):
    """Each kind of bad data or goal is a clear error, through every door."""
    doors = {
        "find": lambda: cp.find(y, s, maximize=objective, method="ilp"),
        "chain": lambda: ilp.formulate(y, s, maximize=objective).solve(),
        "document": lambda: ilp.formulate(y, s, maximize=objective, formulation="document").solve(),
    }
    with pytest.raises(CutpointError, match=f"(?s){message}"):
        doors[method]()


def test_a_constraint_that_is_not_linear_is_named():
    """The constraint that no program can hold is the one in the message."""
    with pytest.raises(
        InvalidParameterError, match=r"(?s)^subject_to must be.*'mcc >= 0\.2'.*find takes any"
    ):
        ilp.formulate(Y, S, maximize="recall", subject_to=["precision >= 0.5", "mcc >= 0.2"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formulation": "dense"}, "^formulation must be 'chain' or 'document'"),
        ({"epsilon": 0.1}, "^epsilon must be left out for formulation='chain'"),
        ({"as_printed": True}, "^as_printed must be left out"),
        ({"group": True}, "^group must be left out"),
        ({"formulation": "document", "epsilon": -1}, "must be 'auto' or a number >= 0"),
        ({"formulation": "document", "epsilon": "tiny"}, "must be 'auto' or a number >= 0"),
        ({"formulation": "document", "as_printed": True, "y_score": [2.0, 0.5]}, r"outside \[0, 1\]"),
        ({"formulation": "document", "epsilon": 0.1, "y_score": [math.inf, 0.5]}, "that are infinite"),
    ],
)
def test_bad_options(options, message):
    """Options that cannot be meant are refused, with the reason."""
    with pytest.raises(InvalidParameterError, match=message):
        ilp.formulate(**{"y_true": [1, 0], "y_score": [0.7, 0.2], "maximize": "accuracy", **options})


@pytest.mark.parametrize("options", [{"time_limit": 0}, {"time_limit": math.nan}, {"gap": 1}, {"gap": -1}])
def test_bad_solver_options(options):
    """A limit of no time and a gap of everything are refused."""
    with pytest.raises(InvalidParameterError, match=f"^{next(iter(options))} must be"):
        ilp.formulate(Y, S, maximize="accuracy").solve(**options)


def test_no_mixture_of_a_ratio():
    """A ratio of expectations is no expectation: refused."""
    with pytest.raises(InvalidParameterError, match="must be linear"):
        ilp.formulate(Y, S, maximize="f1").mixture()


def test_document_form_needs_rows():
    """A source that only answers the three questions has no rows to make variables of."""

    class Counts:
        passes = 0

        def __init__(self, source):
            self.summary, self.histogram, self.rows = source.summary, source.histogram, source.rows

    source = Counts(cp.from_counts(S, positives=Y, negatives=[1 - y for y in Y]).source())

    assert 0.8 > ilp.formulate(source, maximize="accuracy").solve().value > 0.7
    with pytest.raises(InvalidParameterError, match="must be 'chain' for data that are not in memory"):
        ilp.formulate(source, maximize="accuracy", formulation="document")


@pytest.mark.parametrize("formulation", ["chain", "document"])
@pytest.mark.parametrize("power", [-50, -12, -9, 9, 16, 40, 49])
@pytest.mark.parametrize(
    "constraint", [None, "precision >= 0.3", "recall >= 0.5", "predicted_positive >= {least:g}"]
)
def test_weights_of_any_size(formulation, power, constraint):
    """A solver takes tiny costs for none and refuses huge numbers: weights come to it in a size it knows."""
    y_true, y_score = [1, 0, 0, 0, 1, 0], [0.1, 0.0, 0.0, 0.0, 0.2, 0.3]
    weights = 10.0**power * np.array([1, 1, 1.5, 1, 2, 1])
    subject_to = constraint and constraint.format(least=3 * 10.0**power)
    asked = {"sample_weight": weights, "maximize": "accuracy", "subject_to": subject_to}

    expected = cp.find(y_true, y_score, **asked)
    actual = ilp.formulate(y_true, y_score, formulation=formulation, **asked).solve()
    assert (expected.status, expected.value) == (actual.status, actual.value)
    assert expected.threshold == actual.threshold


@pytest.mark.slow
@settings(max_examples=3000)
@given(problems(), objectives(), directions, conjunctions(2))
def test_find_by_ilp_equals_the_sweep_at_length(problem, objective, direction, constraints):
    """The law of the first test on many more examples."""
    test_find_by_ilp_equals_the_sweep.hypothesis.inner_test(problem, objective, direction, constraints)
