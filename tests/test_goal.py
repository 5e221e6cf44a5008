"""The language of objectives and constraints: what it reads, and what it refuses to read."""

import contextlib
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints import metrics as m
from cutpoints._goal import constraints as read_constraints
from cutpoints._goal import goal, parse
from cutpoints._goal import objective as read_objective
from cutpoints.exceptions import InvalidParameterError, UnknownMetricError
from cutpoints.metrics.expression import Constraint, Expression
from cutpoints.metrics.registry import EXAMPLES
from strategies import conjunctions, constraints, objectives

SRC = Path(__file__).parents[1] / "src"
SOME = {"tp": Fraction(9), "fp": Fraction(2), "fn": Fraction(1), "tn": Fraction(8)}


def value(expression):
    """The value at TP 9, FP 2, FN 1, TN 8: a fraction, or a float that is rounded once."""
    if isinstance(expression, str):
        expression = read_objective(expression)
    exact = expression.fraction(**SOME)
    return expression.rounded(**SOME) if exact is None else exact


# --- what it reads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f1", m.f1),
        ("f(beta=2)", m.f(beta=2)),
        ("0.7*accuracy + 0.3*recall", 0.7 * m.accuracy + 0.3 * m.recall),
        ("cost(fp=2, fn=1)", m.cost(fp=2, fn=1)),
        ("net_benefit(at=0.2)", m.net_benefit(at=0.2)),
        ("profit(tp=10, fp=-1)", m.profit(tp=10, fp=-1)),
        ("mcc", m.mcc),
        ("recall", m.recall),
    ],
)
def test_examples_of_the_design(text, expected):
    """Every objective that DESIGN.md writes is read, and equals the Python expression."""
    read = read_objective(text)

    assert str(expected) == str(read)
    assert value(expected) == value(read)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("precision >= 0.95", ["precision >= 0.95"]),
        ("predicted_positive <= 500", ["predicted_positive <= 500"]),
        ("0.1 <= fpr <= 0.2", ["fpr >= 0.1", "fpr <= 0.2"]),
        ("0.5 < recall", ["recall > 0.5"]),
        ("0.9 > fpr >= 0.1", ["fpr < 0.9", "fpr >= 0.1"]),
        ("precision >= 0.95 and recall > 0.5", ["precision >= 0.95", "recall > 0.5"]),
        ("recall >= 0.5 and (fpr <= 0.1 and npv >= 0.2)", ["recall >= 0.5", "fpr <= 0.1", "npv >= 0.2"]),
        ("precision >= recall", ["precision - recall >= 0"]),
        ("cost(fp=2, fn=1) <= 10", ["cost(fp=2, fn=1) <= 10"]),
        ("0.5*recall + 0.5*precision >= 1/3", ["0.5*recall + 0.5*precision >= 1/3"]),
        ("recall >= 2*0.25 + 0.1", ["recall >= 0.6"]),
    ],
)
def test_comparisons(text, expected):
    """Comparisons, also chained, mirrored, joined by `and`, and of two metrics."""
    assert expected == [str(one) for one in read_constraints(text)]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (None, []),
        ([], []),
        ((), []),
        (m.precision >= 0.95, ["precision >= 0.95"]),
        ([m.recall >= 0.8, "fpr <= 0.1"], ["recall >= 0.8", "fpr <= 0.1"]),
        (("recall >= 0.8 and npv > 0", m.fpr < 1), ["recall >= 0.8", "npv > 0", "fpr < 1"]),
        ((c for c in ["recall >= 0.8"]), ["recall >= 0.8"]),
    ],
    ids=["none", "list", "tuple", "one", "mixed", "joined", "generator"],
)
def test_constraints_come_alone_or_together(wanted, expected):
    """One constraint or any iterable of them, as text or as Python, is read."""
    assert expected == [str(one) for one in read_constraints(wanted)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5*f1 + 0.5", lambda f, r, a: f / 2 + Fraction(1, 2)),
        ("f1 - recall - accuracy", lambda f, r, a: f - r - a),
        ("f1 - (recall - accuracy)", lambda f, r, a: f - r + a),
        ("1 - f1", lambda f, r, a: 1 - f),
        ("-f1", lambda f, r, a: -f),
        ("--f1", lambda f, r, a: f),
        ("+f1", lambda f, r, a: f),
        ("-0.5*f1 + 2*-recall", lambda f, r, a: -f / 2 - 2 * r),
        ("2*(f1 + recall)*3", lambda f, r, a: 6 * (f + r)),
        ("f1/4 + recall/2", lambda f, r, a: f / 4 + r / 2),
        ("(f1 + recall)/2 - 1/3", lambda f, r, a: (f + r) / 2 - Fraction(1, 3)),
        ("2 + 3*f1", lambda f, r, a: 2 + 3 * f),
        ("1/3*f1", lambda f, r, a: f / 3),
        ("2*3*f1 - 4/2", lambda f, r, a: 6 * f - 2),
        ("0.1*f1 + 0.2*f1", lambda f, r, a: Fraction(3, 10) * f),
        ("1e-2*f1", lambda f, r, a: f / 100),
        ("1_000*f1", lambda f, r, a: 1000 * f),
        ("(\n0.5*f1\n + .5*recall)", lambda f, r, a: (f + r) / 2),
    ],
)
def test_arithmetic(text, expected):
    """Precedence, unary signs, parentheses and division by numbers are those of arithmetic."""
    numbers = (value("f1"), value("recall"), value("accuracy"))

    assert expected(*numbers) == value(text)


def test_numbers_are_decimals():
    """A tenth is a tenth: 0.1 of the text and 0.1 of Python are 1/10, not the nearest double."""
    assert Fraction(1, 10) == read_constraints("fpr <= 0.1")[0].bound
    assert Fraction(1, 10) == (m.fpr <= 0.1).bound
    assert Fraction(1, 10) == (m.fpr <= np.float64(0.1)).bound
    perfect = {**SOME, "fp": Fraction(0), "fn": Fraction(0)}
    assert Fraction(3, 10) == read_objective("0.1*f1 + 0.2*f1").fraction(**perfect)
    long = "0.1000000000000000000000000001"
    assert Fraction(long) == read_constraints(f"fpr <= {long}")[0].bound


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("tpr", "recall"),
        ("F1", "f1"),
        ("PPV", "precision"),
        ("fbeta(beta=2)", "f(beta=2)"),
        ("threat_score", "jaccard"),
        ("expected_cost(fp=2)", "cost_per_row(fp=2)"),
        ("0.5*sensitivity + 0.5*tnr", "0.5*recall + 0.5*specificity"),
    ],
)
def test_aliases_print_canonical_names(alias, canonical):
    """Any alias is read, and results print the one canonical name."""
    assert canonical == str(read_objective(alias))
    assert canonical == cp.find([0, 1], [0, 1], maximize=alias).objective


def test_surrounding_blanks_do_not_matter():
    """Blanks and line ends around a text are not part of it."""
    assert "f1" == str(read_objective("  f1\n"))
    assert ["fpr <= 0.1"] == [str(c) for c in read_constraints("\n fpr<=0.1  ")]


@given(objectives())
def test_any_objective_of_the_language_means_what_it_says(objective):
    """Generated texts are read, and the exact value is that of the oracle's reading."""
    from oracle import Confusion

    read = read_objective(objective.text)
    for counts in (SOME, {key: Fraction(1) for key in SOME}):
        expected = objective.meaning.value(Confusion(**counts))
        if expected is None:
            assert math.isnan(read.rounded(**counts))
        elif read.rational and math.isfinite(expected.number):
            assert expected.number == read.fraction(**counts)
        else:
            assert float(expected.number) == pytest.approx(read.rounded(**counts), rel=1e-14, abs=1e-14)


@given(objectives())
def test_printed_objective_means_the_same(objective):
    """What is printed reads back to the same value."""
    read = read_objective(objective.text)
    again = parse(str(read), "maximize")
    printed = again if isinstance(again, Fraction) else value(again)

    assert value(read) == printed or (math.isnan(value(read)) and math.isnan(printed))


@given(constraints())
def test_printed_constraint_means_the_same(constraint):
    """What is printed of a constraint reads back to the same relation, bound and value."""
    (read,) = read_constraints(constraint.text)
    (again,) = read_constraints(str(read))

    assert (read.relation, read.bound) == (again.relation, again.bound)


@given(conjunctions())
def test_conjunction_in_one_text_is_the_list(wanted):
    """`a and b` is the same as [a, b]."""
    texts = [constraint.text for constraint in wanted]
    separate = [str(c) for c in read_constraints(texts)]
    together = [str(c) for c in read_constraints(" and ".join(texts))] if texts else []

    assert separate == together


# --- Python expressions

PAIRS = [
    ("f1 + recall", m.f1 + m.recall),
    ("f1 - recall", m.f1 - m.recall),
    ("0.7*accuracy + 0.3*recall", 0.7 * m.accuracy + 0.3 * m.recall),
    ("accuracy*0.7", m.accuracy * 0.7),
    ("np.float64", np.float64(0.7) * m.accuracy),
    ("f1/3", m.f1 / 3),
    ("-f1", -m.f1),
    ("1 - f1", 1 - m.f1),
    ("f1 - 1", m.f1 - 1),
    ("3 + f1", 3 + m.f1),
]


@pytest.mark.parametrize(("text", "expression"), PAIRS, ids=[text for text, _ in PAIRS])
def test_python_equals_text(text, expression):
    """The operators of Python build what the text says."""
    text = "0.7*accuracy" if text == "np.float64" else text

    assert value(text) == value(expression)


@pytest.mark.parametrize("relation", [">=", "<=", ">", "<"])
def test_python_comparison_equals_text(relation):
    """Comparisons of Python build the constraints that the text says, mirrored or not."""
    for text in (f"precision {relation} 0.95", f"0.95 {relation} precision", f"precision {relation} recall"):
        built = eval(text, {"precision": m.precision, "recall": m.recall})  # noqa: S307 - our own text
        (read,) = read_constraints(text)

        assert isinstance(built, Constraint)
        assert str(read) == str(built)


def test_chained_comparison_in_python_is_refused():
    """Python would silently keep half of a chained comparison, so its truth value is an error."""
    with pytest.raises(TypeError, match=r"no truth value.*\n\nHint: pass a list of constraints"):
        0.1 <= m.fpr <= 0.2  # noqa: B015 - the comparison is what is tested


def test_product_of_metrics_is_refused():
    """Metrics are added, not multiplied; the hint says what to do instead."""
    with pytest.raises(
        InvalidParameterError, match=r"the product \(f1\) \* \(recall\).*\n\nHint: write a function"
    ):
        m.f1 * m.recall


@pytest.mark.parametrize("other", ["x", None, [1], object()], ids=["text", "none", "list", "object"])
def test_operators_refuse_what_is_no_number(other):
    """Adding, scaling or dividing by something else is a TypeError of Python."""
    for combine in (lambda: m.f1 + other, lambda: m.f1 * other, lambda: m.f1 / other, lambda: m.f1 - other):
        with pytest.raises(TypeError):
            combine()


@pytest.mark.parametrize("bound", [math.nan, math.inf, -math.inf, "0.9", None, True], ids=repr)
def test_python_comparison_needs_a_finite_number(bound):
    """A bound is a finite number, or another metric."""
    with pytest.raises(InvalidParameterError, match="must be a comparison of a metric with a finite number"):
        m.precision >= bound  # noqa: B015 - the comparison is what is tested


# --- what it refuses

HOSTILE = [
    "__import__('os').system('echo owned')",
    "().__class__.__bases__[0].__subclasses__()",
    "f1.__class__",
    "f1.evaluate",
    "lambda: f1",
    "lambda tp, fp, fn, tn: tp",
    "(lambda: 1)()",
    "[f1]",
    "[x for x in (1, 2)]",
    "{f1}",
    "{'a': f1}",
    "(f1, recall)",
    "f1[0]",
    "f1 if 1 else recall",
    "f1 := 2",
    "(x := f1)",
    "f1; recall",
    "import os",
    "f1 = 2",
    "print('x')",
    "eval('1')",
    "exec('1')",
    "open('/etc/passwd')",
    "globals()",
    "f'{f1}'",
    "'f1'",
    "b'f1'",
    "True",
    "None",
    "...",
    "1j*f1",
    "not f1",
    "~f1",
    "f1 or recall",
    "f1 and recall",
    "f1 @ recall",
    "f1 // 2",
    "f1 % 2",
    "f1 ** 2",
    "f1 << 2",
    "f1 | recall",
    "f1 * recall",
    "f1 / recall",
    "2 / f1",
    "f1 / 0",
    "f1 / (1 - 1)",
    "*f1",
    "f(2)",
    "f(beta=f1)",
    "f(beta=recall >= 1)",
    "f(**{'beta': 2})",
    "f(beta=1, beta=2)",
    "cost(fp=2, fn=1)(tp=1)",
    "cost(1, 2)",
    "f1()()",
    "f1(beta=2)",
    "f1 >= 0.5 >= ",
    "f1 == 0.5",
    "f1 != 0.5",
    "f1 in (1, 2)",
    "f1 is recall",
    "f1 +",
    "(f1",
    "f1)",
    "0.7 accuracy",
    "f1 recall",
    "0x10*f1",
    "1 <= 2",
    "f1 + (recall >= 0.5)",
    "-(recall >= 0.5)",
    "",
    "   ",
    "\n",
    "#f1",
    "f1\0",
    "f1\\",
    "précision",
    "f1 ≥ 0.5",
    "🎯",
    "\ud800",
    "ﬁ",
    "await f1",
    "yield f1",
]


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text) for text in HOSTILE])
@pytest.mark.parametrize("parameter", ["maximize", "subject_to"])
def test_hostile_text_is_refused(text, parameter, capfd):
    """Whatever is not a metric, a number, a sum or a comparison is an error with a message."""
    options = {"maximize": "f1", parameter: text}
    with pytest.raises((InvalidParameterError, UnknownMetricError)) as caught:
        cp.find([0, 1], [0.1, 0.2], **options)

    assert "" == capfd.readouterr().out
    assert len(str(caught.value)) < 1000


LONG = {
    "power tower": "10**10**10",
    "power tower times metric": "f1*10**10**10",
    "shift": "1 << 10**10",
    "string product": "'a'*10**10",
    "parentheses": "(" * 5000 + "f1" + ")" * 5000,
    "signs": "-" * 9000 + "f1",
    "sum": "+".join(["f1"] * 3000),
    "chain": "0" + " <= f1" * 1000,
    "long name": "f" * 9000,
    "too long": "f1 + " * 100_000 + "f1",
    "digits": "9" * 9000 + "*f1",
    "brackets": "[" * 9000,
    "calls": "f(beta=" * 1000 + "1" + ")" * 1000,
    "huge exponent": "1e999999999*f1",
    "huge exponent as bound": "f1 >= 1e999999999",
    "tiny exponent": "1e-999999999*f1",
    "huge parameter": "cost(fp=1e999999999)",
    "exponent beyond a float": "1e400*f1",
    "exponent beyond a float as bound": "f1 >= 1e400",
    "sum beyond a float": "1e308*f1 + 1e308*recall + 1e308*precision",
}

RUN = """
import json, sys
import cutpoints as cp
for name, text in json.load(sys.stdin).items():
    told = []
    try:
        for options in ({"maximize": text}, {"maximize": "f1", "subject_to": text}):
            try:
                told.append(cp.find([0, 1, 1], [0.1, 0.2, 0.3], **options).status)
            except (cp.exceptions.InvalidParameterError, cp.exceptions.UnknownMetricError) as error:
                told.append(f"{type(error).__name__} {len(str(error)) < 1000}")
    except BaseException as error:
        told.append(f"escaped: {type(error).__name__} {str(error)[:200]}")
    print(json.dumps([name, told]), flush=True)
"""


@pytest.fixture(scope="module")
def answers():
    """What is said to each, by one new interpreter, so that nothing here suffers."""
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(LONG),
        env={"PYTHONPATH": str(SRC), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "" == done.stderr
    return dict(map(json.loads, done.stdout.splitlines()))


@pytest.mark.parametrize("name", LONG)
def test_exhausting_text_is_answered_at_once(answers, name):
    """Deep, long and huge texts are answered within seconds: read, or refused with a message."""
    assert {
        "InvalidParameterError True",
        "UnknownMetricError True",
        "optimal",
        "infeasible",
    } >= set(answers[name])
    assert 2 == len(answers[name])


@given(st.text(st.characters(max_codepoint=0x2FF), max_size=60))
def test_any_text_is_read_or_refused(text):
    """No text makes the reader raise anything but its own errors."""
    for read in (read_objective, read_constraints):
        with contextlib.suppress(InvalidParameterError, UnknownMetricError):
            read(text)


names = st.sampled_from([x.name for x in EXAMPLES])
tokens = st.sampled_from(
    [*"+-*/()<>=,.:[]{}@", "**", "//", ">=", "<=", "==", "and", "or", "not", "if", "else", "lambda"]
)
numbers = st.sampled_from(["0", "1", "0.5", "1e3", "2.", ".5", "0.1", "10", "1_0", "0x1", "1j", "007"])


@given(st.lists(st.one_of(names, tokens, numbers, st.just("fp=1"), st.just("beta=")), max_size=12))
def test_any_tokens_are_read_or_refused(parts):
    """Metrics, numbers and operators in any order are read or refused, nothing else happens."""
    for read in (read_objective, read_constraints):
        try:
            found = read(" ".join(parts))
        except (InvalidParameterError, UnknownMetricError):
            continue
        assert isinstance(found, Expression) or all(isinstance(c, Constraint) for c in found)


# --- hints


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("recal", "recall"),
        ("acuracy", "accuracy"),
        ("0.5*f1 + 0.5*recal", "recall"),
        ("precison >= 0.95", "precision"),
        ("balanced_acuracy", "balanced_accuracy"),
        ("costs(fp=1)", "cost"),
        ("mathews", "matthews"),
    ],
)
def test_misspelt_metric_names_its_neighbours(text, near):
    """A name that is nearly right is met with the right one."""
    with pytest.raises(UnknownMetricError, match=f"(?s)Hint: did you mean .*'{near}'"):
        parse(text, "maximize")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("f1 == 0.5", "use >= or <="),
        ("f(2)", "did you mean 'f.beta=2"),
        ("f1 +", "for example 'f1'"),
        ("f1 ** 2", "for example 'f1'"),
        ("f(gamma=2)", r"for example f\(beta=2\)"),
    ],
)
def test_refusals_say_what_to_write(text, hint):
    """A text that cannot be read is met with one that can."""
    with pytest.raises(InvalidParameterError, match=f"(?s)must be .*Hint: .*{hint}"):
        parse(text, "maximize")


def test_the_part_that_is_wrong_is_shown():
    """Of a long text the refused part is quoted."""
    with pytest.raises(InvalidParameterError, match=r"f1 \*\* 2"):
        parse("0.5*accuracy + 0.25*(f1 ** 2)", "maximize")


def test_long_text_is_shortened_in_the_message():
    """A text of thousands of characters does not become a message of thousands of characters."""
    with pytest.raises(InvalidParameterError) as caught:
        parse("f1 ** 2 + " * 500, "maximize")

    assert len(str(caught.value)) < 500


# --- the goal


@pytest.mark.parametrize("wanted", [{}, {"maximize": "f1", "minimize": "f1"}], ids=["neither", "both"])
def test_exactly_one_direction(wanted):
    """Exactly one of maximize and minimize is given."""
    with pytest.raises(
        InvalidParameterError,
        match=r"(?s)^maximize must be given, or else minimize.*Hint",
    ):
        goal(**wanted)


def test_goal_reads_as_a_sentence():
    """A goal prints what was asked for, constraints included."""
    wanted = goal(maximize="recall", subject_to=["precision >= 0.95", "fpr < 0.1"])

    assert "maximize recall subject to precision >= 0.95 and fpr < 0.1" == str(wanted)
    assert (1, -1) == (wanted.sign, goal(minimize="fpr").sign)


@pytest.mark.parametrize("wanted", [5, 0.5, True, ["f1"], {}, np.array([1, 2]), b"f1"], ids=repr)
def test_objective_of_a_wrong_type(wanted):
    """What is neither a name, an expression nor a function is refused."""
    with pytest.raises(InvalidParameterError, match=r"^maximize must be the name of a metric"):
        goal(maximize=wanted)


@pytest.mark.parametrize(
    "wanted",
    [m.precision, 5, [["precision >= 0.5"]], [m.precision], [None], True, "f1", ["f1"], "0.5"],
    ids=repr,
)
def test_constraint_of_a_wrong_type(wanted):
    """What is not a comparison is refused as a constraint, with an example of one."""
    with pytest.raises(InvalidParameterError, match=r"(?s)^subject_to must be .*Hint: for example"):
        goal(maximize="f1", subject_to=wanted)


@pytest.mark.parametrize("text", ["precision >= 0.95", "f1 >= 0.5 and recall >= 0.5"])
def test_constraint_as_objective(text):
    """A comparison is no objective; the hint says where it belongs."""
    with pytest.raises(
        InvalidParameterError, match=r"(?s)got the constraint.*Hint: constraints go into subject_to"
    ):
        goal(maximize=text)


def test_constraint_object_as_objective():
    """A comparison of Python is no objective either."""
    with pytest.raises(InvalidParameterError, match=r"^maximize must be"):
        goal(maximize=m.precision >= 0.95)


def test_number_as_objective():
    """A bare number is no objective."""
    with pytest.raises(
        InvalidParameterError, match=r"(?s)must be a metric or a sum of metrics.*the number 0.5"
    ):
        goal(maximize="0.5")


def test_errors_name_the_function_that_was_called():
    """Whoever reads a goal says for whom, so that people are not sent to another function."""
    for options in ({"maximize": "f1 >= 0.5"}, {"maximize": "f1 f1"}, {"maximize": "f1", "subject_to": "f1"}):
        with pytest.raises(InvalidParameterError) as error:
            goal(**options, caller="assess")

        assert "assess" == error.value.caller
