"""Names of columns: every function that takes data takes them as `find` does, in the same words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cutpoints as cp
from asking import everything
from cutpoints._data import files, frames
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

RNG = np.random.default_rng(20)
Y = (RNG.random(60) < 0.4).astype(int)
P = np.round(np.clip(RNG.normal(0.35 + 0.3 * Y, 0.2), 0.01, 0.99), 2)
Q = np.round(np.clip(RNG.normal(0.4 + 0.2 * Y, 0.2), 0.01, 0.99), 2)
W = RNG.integers(1, 5, 60) / 4
TABLE = {"y": Y, "p": P, "q": Q, "w": W}


def curve(*data, **columns):
    """Return the table of a curve, and its area."""
    found = cp.curve(*data, **columns)
    return {name: column.tolist() for name, column in found.table("recall").items()}, found.auc


def evaluate(*data, **columns):
    """Return the catalogue at one threshold."""
    return cp.evaluate(*data, threshold=0.5, **columns).to_dict()


def assess(*data, **columns):
    """Return all that is told about trust."""
    return cp.assess(*data, maximize="f1", n_bootstrap=20, **columns).to_dict()


def compare(*data, **columns):
    """Return the comparison of the model `p` alone."""
    if len(data) > 1:
        data = (data[0], {"p": data[1]})
    return cp.compare(*data, maximize="f1", **columns).to_dict()


def calibration(*data, **columns):
    """Return the measures of calibration."""
    return cp.calibration(*data, **columns).to_dict()


FUNCTIONS = [curve, evaluate, assess, compare, calibration]
WEIGHTED = [curve, evaluate, assess, compare]
every = pytest.mark.parametrize("call", FUNCTIONS, ids=lambda f: f.__name__)
weighted = pytest.mark.parametrize("call", WEIGHTED, ids=lambda f: f.__name__)


@pytest.fixture(params=["pandas", "polars", "polars-lazy", "pyarrow", "csv", "parquet", "list of files"])
def given(request, tmp_path):
    """The same table as a frame or as files."""
    frame = pl.DataFrame(TABLE)
    path = tmp_path / f"scores.{request.param}"
    if request.param == "csv":
        frame.write_csv(path)
        return str(path)
    if request.param == "parquet":
        frame.write_parquet(path)
        return path
    if request.param == "list of files":
        for i in (0, 1):
            frame[30 * i : 30 * i + 30].write_parquet(tmp_path / f"{i}.parquet")
        return [tmp_path / "0.parquet", str(tmp_path / "1.parquet")]
    return {
        "pandas": frame.to_pandas,
        "polars": lambda: frame,
        "polars-lazy": frame.lazy,
        "pyarrow": frame.to_arrow,
    }[request.param]()


@every
def test_columns_give_what_arrays_give(call, given):
    """A frame or a path with names of columns has the answer of the arrays, to the last bit."""
    assert call(Y, P) == call(given, label="y", score="p")


@weighted
def test_weights_have_a_name_too(call, given):
    """The column of weights weighs as the array does."""
    assert call(Y, P, sample_weight=W) == call(given, label="y", score="p", weight="w")


@every
def test_words_as_labels(call, tmp_path):
    """The positive label is named, in frames as in files of text."""
    words = np.where(Y == 1, "yes", "no")
    frame = pd.DataFrame({"y": words, "p": P})
    frame.to_csv(tmp_path / "words.csv", index=False)
    for data in (frame, tmp_path / "words.csv"):
        assert call(Y, P) == call(data, label="y", score="p", pos_label="yes")


def test_models_are_columns(given):
    """Each column of scores is a model under its own name, and all are tested on the same rows."""
    expected = cp.compare(Y, {"p": P, "q": Q}, maximize="f1")
    found = cp.compare(given, label="y", score=["p", "q"], maximize="f1")
    assert expected.to_dict() == found.to_dict()
    assert 1 == len(found.tests)


def test_many_models_read_a_file_once(tmp_path, monkeypatch):
    """The columns of all models come from one reading of the files."""
    pl.DataFrame(TABLE).write_csv(tmp_path / "scores.csv")
    opened = []
    init = files.Opened.__init__

    def count(self, *args, **options):
        opened.append(args)
        init(self, *args, **options)

    monkeypatch.setattr(files.Opened, "__init__", count)
    cp.compare(tmp_path / "scores.csv", label="y", score=["p", "q"], weight="w", maximize="f1")
    assert 1 == len(opened)


@pytest.mark.parametrize("call", [curve, evaluate], ids=lambda f: f.__name__)
def test_lazy_frames_stay_lazy(call, monkeypatch):
    """Curves need no row: what comes back are distinct scores."""
    monkeypatch.setattr(frames, "columns_of", lambda *_: pytest.fail("collected"))
    assert call(Y, P) == call(pl.LazyFrame(TABLE), label="y", score="p")


def test_large_files_are_read_in_batches(tmp_path, monkeypatch):
    """A curve of many rows holds distinct scores, and never the rows."""
    pl.DataFrame(TABLE).write_parquet(tmp_path / "scores.parquet")
    monkeypatch.setattr(files, "MEMORY_ROWS", 10)
    monkeypatch.setattr(files.Opened, "read", lambda *_: pytest.fail("read whole"))
    assert curve(Y, P) == curve(tmp_path / "scores.parquet", label="y", score="p")


def test_only_named_columns_are_collected(monkeypatch):
    """A lazy frame that must be collected is asked for what is needed."""
    collected = []
    run = frames.run
    monkeypatch.setattr(frames, "run", lambda frame: collected.append(frame.columns) or run(frame))
    cp.assess(pl.LazyFrame(TABLE), label="y", score="p", weight="w", maximize="f1", n_bootstrap=0)
    assert [["p", "y", "w"]] == collected


@every
def test_data_give_what_arrays_give(call, given):
    """What `read` returns goes into every function, again and again."""
    data = cp.read(given, label="y", score="p")
    assert call(Y, P) == call(data) == call(data)


@weighted
def test_data_have_weights_too(call, given):
    """The weights of a `Data` weigh as the array does."""
    assert call(Y, P, sample_weight=W) == call(cp.read(given, label="y", score="p", weight="w"))


def test_score_chooses_among_the_columns_of_data(given):
    """A `Data` may name several models, or none, and `score` chooses."""
    expected = cp.find(Y, Q, maximize="f1").threshold
    for score in (["p", "q"], None, "p"):
        assert expected == cp.find(cp.read(given, label="y", score=score), score="q", maximize="f1").threshold
    with pytest.raises(InvalidParameterError, match=r"^score must be one column"):
        cp.find(cp.read(given, label="y", score=["p", "q"]), maximize="f1")
    with pytest.raises(InvalidParameterError, match=r"^score must be the name"):
        cp.find(cp.read(given, label="y"), maximize="f1")


def test_rarer_functions_take_data_too(given):
    """Integer programs, recalibration and thresholds without labels take the three spellings."""
    data, columns = cp.read(given, label="y", score="p"), {"label": "y", "score": "p"}
    program = everything(cp.ilp.formulate(Y, P, maximize="accuracy").solve())
    fitted = cp.recalibrate(Y, P).transform([0.2, 0.7]).tolist()
    expected = cp.find_expected(P, maximize="f1", sample_weight=W)
    best = cp.find(Y, P, maximize="f1")

    assert program == everything(cp.ilp.formulate(data, maximize="accuracy").solve())
    assert program == everything(cp.ilp.formulate(given, **columns, maximize="accuracy").solve())
    assert fitted == cp.recalibrate(data).transform([0.2, 0.7]).tolist()
    assert fitted == cp.recalibrate(given, **columns).transform([0.2, 0.7]).tolist()
    assert expected == cp.find_expected(cp.read(given, score="p", weight="w"), maximize="f1")
    assert expected == cp.find_expected(given, score="p", weight="w", maximize="f1")
    assert best.policy().check(Y, P).to_dict() == best.policy().check(data).to_dict()


@pytest.mark.parametrize("models", ["p", ["p", "q"]], ids=str)
def test_reports_read_a_file_once(tmp_path, monkeypatch, models):
    """All models of a page come from one reading of the file."""
    pl.DataFrame(TABLE).write_csv(tmp_path / "scores.csv")
    reads = []
    read = files.Opened.read
    monkeypatch.setattr(files.Opened, "read", lambda *a: reads.append(a) or read(*a))

    made = cp.report(tmp_path / "scores.csv", label="y", score=models, maximize="f1").to_dict()

    assert 1 == len(reads)
    assert [models] if isinstance(models, str) else models == [one["name"] for one in made["models"]]


def test_groups_are_a_column(given):
    """The groups of `assess` come with the rows, by name."""
    frame = pl.DataFrame({**TABLE, "g": np.arange(60) // 3})
    expected = assess(Y, P, groups=frame["g"].to_numpy())
    assert expected == assess(cp.read(frame, label="y", score="p"), groups="g")
    assert expected == assess(frame.lazy(), label="y", score="p", groups="g")


def test_large_groups_are_not_merged():
    """A missing group does not make floats of the others, which would merge large numbers."""
    numbers = [2**60 + i // 3 if i < 57 else None for i in range(60)]
    frame = pl.DataFrame({**TABLE, "g": pl.Series(numbers, dtype=pl.Int64)})
    expected = assess(Y, P, groups=np.arange(60) // 3)

    assert expected == assess(frame, label="y", score="p", groups="g")
    assert expected == assess(frame.lazy(), label="y", score="p", groups="g")


def test_nothing_is_read_before_it_is_needed(tmp_path):
    """A path that leads nowhere is told by the first function that reads."""
    data = cp.read(tmp_path / "none.csv", label="y", score="p")
    with pytest.raises(InvalidParameterError, match="maximize"):
        cp.find(data)
    with pytest.raises(InvalidInputError, match=r"none\.csv"):
        cp.find(data, maximize="f1")


def test_data_are_shown_in_a_line():
    """What it is, and what its columns are called."""
    frame = pd.DataFrame(TABLE)
    assert "<Data: pandas DataFrame, label y, score p, q, weight w>" == repr(
        cp.read(frame, label="y", score=["p", "q"], weight="w")
    )
    assert "<Data: a.csv and 1 more, where p > 0, label y>" == repr(
        cp.read(["a.csv", "b.csv"], label="y", where="p > 0")
    )
    assert "<Data: arrays, score y_score, positives positives, negatives negatives>" == repr(
        cp.from_counts([0.1], positives=[1], negatives=[2])
    )


# --- errors


@pytest.mark.parametrize("given", ["pandas", "parquet"], indirect=True)
def test_weights_cannot_be_guaranteed(given):
    """Weights are refused with a guarantee, whichever way they come."""
    asked = {"maximize": "recall", "subject_to": "precision >= 0.5", "guarantee": 0.9}
    columns = {"label": "y", "score": "p", "weight": "w"}
    for call in (
        lambda: cp.find(given, **columns, **asked),
        lambda: cp.find(cp.read(given, **columns), **asked),
    ):
        with pytest.raises(InvalidParameterError, match=r"^weight must be left out"):
            call()
    with pytest.raises(InvalidParameterError, match=r"^sample_weight must be left out"):
        cp.find(Y, P, sample_weight=W, **asked)


@every
@pytest.mark.parametrize("more", [{"label": "y"}, {"pos_label": 1}], ids=str)
def test_data_have_their_own_columns(call, more):
    """What was said in `read` is not said again."""
    (name,) = more
    with pytest.raises(InvalidParameterError, match=f"^{name} must be left out of") as caught:
        call(cp.read(pd.DataFrame(TABLE), label="y", score="p"), **more)
    assert call.__name__ == caught.value.caller


@pytest.mark.parametrize("call", [calibration], ids=lambda f: f.__name__)
def test_calibration_has_no_weights(call):
    """What counts rows says so."""
    with pytest.raises(InvalidParameterError, match=r"^weight must be left out") as caught:
        call(cp.read(pd.DataFrame(TABLE), label="y", score="p", weight="w"))
    assert call.__name__ == caught.value.caller


@pytest.mark.parametrize("call", [assess, compare, calibration], ids=lambda f: f.__name__)
def test_counted_rows_have_no_labels(call):
    """What needs every row says so."""
    data = cp.from_counts([0.1, 0.9], positives=[1, 3], negatives=[4, 2])
    with pytest.raises(InvalidParameterError, match="must be one label per row") as caught:
        call(data)
    assert call.__name__ == caught.value.caller


def test_arrays_are_not_read():
    """Arrays go straight into the functions."""
    with pytest.raises(InvalidParameterError, match=r"^data must be a data frame, or a path"):
        cp.read(Y, label="y", score="p")


@every
def test_unknown_columns_are_told_with_those_there_are(call, given):
    """The columns that there are, and the one that was probably meant."""
    with pytest.raises(
        InvalidInputError,
        match=r"(?s)Column not found: 'P'.*columns of .* are 'y', 'p', 'q' and 'w'.*did you mean 'p'",
    ):
        call(given, label="y", score="P")


@every
@pytest.mark.parametrize("missing", ["label", "score", "both"])
def test_names_that_are_missing(call, given, missing):
    """A frame or a path needs both names, and the error says which."""
    columns = {role: name for role, name in (("label", "y"), ("score", "p")) if missing not in (role, "both")}
    role = "score" if missing == "score" else "label"
    said = rf"(?s)^{role} must be the name.*Hint: .*label='y', score='p'"
    if isinstance(given, list) and not columns:
        said = "must be"  # a list of texts alone may be labels
    with pytest.raises(InvalidParameterError, match=said) as error:
        call(given, **columns)

    assert call.__name__ == error.value.caller


@every
def test_arrays_and_names_do_not_mix(call, given):
    """Scores come from a column or from an array."""
    with pytest.raises(InvalidParameterError, match=r"^y_\w+ must be left out where columns") as error:
        call(given, P, label="y", score="p")

    assert call.__name__ == error.value.caller


@weighted
def test_weights_do_not_mix(call, given):
    """Weights come from a column too, where columns have names."""
    with pytest.raises(
        InvalidParameterError,
        match=r"^sample_weight must be left out where columns",
    ) as error:
        call(given, sample_weight=W, label="y", score="p")

    assert call.__name__ == error.value.caller


@every
def test_names_of_arrays(call):
    """An array has no columns that could be named."""
    with pytest.raises(InvalidParameterError, match=r"^\w+ must be a data frame, or a path") as error:
        call(Y, label="y", score="p")

    assert call.__name__ == error.value.caller


@every
@pytest.mark.parametrize("role", ["label", "score"])
def test_names_are_texts(call, role):
    """The number of a column is no name."""
    columns = {"label": "y", "score": "p"} | {role: 1}
    with pytest.raises(InvalidParameterError, match=f"^{role} must be the name of a column") as error:
        call(pd.DataFrame(TABLE), **columns)

    assert call.__name__ == error.value.caller


@pytest.mark.parametrize("call", [f for f in FUNCTIONS if f is not compare], ids=lambda f: f.__name__)
def test_no_scores_at_all(call):
    """Labels alone are too little, and the error shows both ways to give scores."""
    with pytest.raises(InvalidParameterError, match=r"(?s)must be given: one .* per label.*label='y'"):
        call(Y)


@every
def test_faults_in_columns_name_the_column(call, given):
    """Rows are called by the column that they are in, not by an argument that was not given."""
    with pytest.raises(InvalidInputError, match="'q' must have two distinct labels"):
        call(given, label="q", score="p")


@pytest.mark.parametrize("call", [calibration], ids=lambda f: f.__name__)
def test_columns_of_probabilities(call):
    """What lies beyond 0 and 1 is no probability, whatever the column is called."""
    frame = pd.DataFrame({"y": [0, 1], "margin": [-1.5, 0.5]})
    with pytest.raises(InvalidInputError, match="'margin' must be probabilities"):
        call(frame, label="y", score="margin")


@pytest.mark.parametrize("score", [[], ["p", "p"], ["p", 3], 3], ids=str)
def test_each_model_has_a_column_of_its_own(score):
    """No model, one model twice, and what is no name are refused."""
    with pytest.raises(InvalidParameterError, match=r"^score must be the name"):
        cp.compare(pd.DataFrame(TABLE), label="y", score=score, maximize="f1")


def test_a_curve_has_no_columns():
    """A curve is counted already: names would be ignored."""
    with pytest.raises(InvalidParameterError, match=r"^label must be left out"):
        cp.evaluate(cp.curve(Y, P), threshold=0.5, label="y", score="p")


# --- the index of pandas

LABELS = [10, 11, 12, 13, 14, 15]
SHUFFLED = [15, 10, 12, 11, 14, 13]


def _series(values, index=None):
    return pd.Series(values, index=index)


PAIRED = {
    "scores": lambda y, other: cp.find(y, other, maximize="f1"),
    "weights": lambda y, other: cp.find(y, y.to_numpy() * 0.5, sample_weight=other, maximize="f1"),
    "curve": cp.curve,
    "models": lambda y, other: cp.compare(y, {"a": y.to_numpy() * 0.5, "b": other}, maximize="f1"),
    "counts": lambda y, other: cp.from_counts(y, positives=other, negatives=y.to_numpy()),
    "unlabelled": lambda y, other: cp.find_expected(y * 0.5, sample_weight=other, maximize="f1"),
    "sketch": lambda y, other: cp.Sketch().update(y, other),
    "segments": lambda y, other: cp.find_by(y.to_numpy(), y, by=other, maximize="f1"),
    "decisions": lambda y, other: cp.find_by(y.to_numpy(), y, by=other.to_numpy(), maximize="f1").decide(
        y, other
    ),
    "several segments": lambda y, other: cp.find_by(
        y.to_numpy(), y, by={"a": y.to_numpy(), "b": other}, maximize="f1"
    ),
    "a list of segments": lambda y, other: cp.find_by(
        y.to_numpy(), y, by=[y.to_numpy(), other], maximize="f1"
    ),
    "classes": lambda y, other: cp.evaluate_classes(y, other > 0.5),
    "class weights": lambda y, other: cp.find_class_weights(y, pd.DataFrame({0: 1 - other, 1: other})),
    "labels": lambda y, other: cp.find_labels(
        pd.DataFrame({"a": y, "b": 1 - y}), pd.DataFrame({"a": other, "b": 1 - other}), maximize="f1"
    ),
    "groups": lambda y, other: cp.assess(y.to_numpy(), y, groups=other, maximize="f1", cv=2, n_bootstrap=20),
}


@pytest.mark.filterwarnings("ignore:A class has only:cutpoints.exceptions.DataWarning")
@pytest.mark.parametrize("call", PAIRED.values(), ids=PAIRED)
def test_the_same_index_in_another_order_is_refused(call):
    """Rows are paired by position, which is wrong where the labels say otherwise."""
    y, other = _series([0, 1, 0, 1, 0, 1], LABELS), [0.25, 0.25, 0.5, 0.5, 0.75, 0.75]

    with pytest.raises(
        InvalidInputError, match=r"same order(.|\n)*at row 0 (.|\n)*one has 10 and the other 15(.|\n)*\.loc\["
    ):
        call(y, _series(other, SHUFFLED))
    call(y, _series(other, LABELS))


@pytest.mark.parametrize(
    "index",
    [None, list("abcdef"), [12, 13, 14, 15, 16, 17]],
    ids=["new", "other", "partly the same"],
)
def test_other_labels_are_paired_by_position(index):
    """Scores in a new series belong to the rows of a test set in their order, as in scikit-learn."""
    y, p = [0, 1, 0, 1, 0, 1], [0.1, 0.9, 0.4, 0.35, 0.2, 0.8]
    expected = cp.find(y, p, maximize="f1")

    assert expected == cp.find(_series(y, LABELS), _series(p, index), maximize="f1")
    assert expected == cp.find(_series(y, LABELS), p, maximize="f1")


def test_aligned_series_give_the_right_answer():
    """What the hint says makes the answer that of the aligned rows."""
    y = _series([0, 1, 0, 1, 0, 1], LABELS)
    p = _series([0.1, 0.9, 0.4, 0.35, 0.2, 0.8], LABELS)
    expected = cp.find(y, p, maximize="f1")

    assert expected == cp.find(y, p.loc[SHUFFLED].loc[y.index], maximize="f1")
