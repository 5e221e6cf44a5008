"""Names of columns: every function that takes data takes them as `find` does, in the same words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cutpoints as cp
from cutpoints._data import files
from cutpoints._data import groupby as frames
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
        data = ({"p": data[1]}, data[0])
    return cp.compare(*data, maximize="f1", **columns).to_dict()


def calibration(*data, **columns):
    """Return the measures of calibration."""
    return cp.calibration(*data, **columns).to_dict()


def reliability_curve(*data, **columns):
    """Return the bins."""
    return cp.reliability_curve(*data, **columns).to_dict()


FUNCTIONS = [curve, evaluate, assess, compare, calibration, reliability_curve]
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
    expected = cp.compare({"p": P, "q": Q}, Y, maximize="f1")
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
    monkeypatch.setattr(frames, "_in_memory", lambda *_: pytest.fail("collected"))
    assert call(Y, P) == call(pl.LazyFrame(TABLE), label="y", score="p")


def test_large_files_are_read_in_batches(tmp_path, monkeypatch):
    """A curve of many rows holds distinct scores, and never the rows."""
    pl.DataFrame(TABLE).write_parquet(tmp_path / "scores.parquet")
    monkeypatch.setattr(files, "LARGE_ROWS", 10)
    monkeypatch.setattr(files.Opened, "read", lambda *_: pytest.fail("read whole"))
    assert curve(Y, P) == curve(tmp_path / "scores.parquet", label="y", score="p")


def test_only_named_columns_are_collected(monkeypatch):
    """A lazy frame that must be collected is asked for what is needed."""
    collected = []
    run = frames.run
    monkeypatch.setattr(frames, "run", lambda frame: collected.append(frame.columns) or run(frame))
    cp.assess(pl.LazyFrame(TABLE), label="y", score="p", weight="w", maximize="f1", n_bootstrap=0)
    assert [["p", "y", "w"]] == collected


# --- errors


@every
def test_unknown_columns_are_told_with_those_there_are(call, given):
    """The columns that there are, and the one that was probably meant."""
    with pytest.raises(
        InvalidInputError,
        match=r"(?s)column 'P' must be in .*columns are 'y', 'p', 'q' and 'w'.*did you mean 'p'",
    ):
        call(given, label="y", score="P")


@every
@pytest.mark.parametrize("missing", ["label", "score", "both"])
def test_names_that_are_missing(call, given, missing):
    """A frame or a path needs both names, and the error says which."""
    columns = {role: name for role, name in (("label", "y"), ("score", "p")) if missing not in (role, "both")}
    role = "score" if missing == "score" else "label"
    said = rf"(?s)'{role}' parameter of {call.__name__} must be the name.*Hint: .*label='y', score='p'"
    if isinstance(given, list) and not columns:
        said = f"parameter of {call.__name__} must be"  # a list of texts alone may be labels
    with pytest.raises(InvalidParameterError, match=said):
        call(given, **columns)


@every
def test_arrays_and_names_do_not_mix(call, given):
    """Scores come from a column or from an array."""
    with pytest.raises(
        InvalidParameterError, match=rf"'y_\w+' parameter of {call.__name__} must be left out where columns"
    ):
        {"compare": lambda *d, **c: cp.compare(*d, maximize="f1", **c)}.get(call.__name__, call)(
            given, P, label="y", score="p"
        )


@weighted
def test_weights_do_not_mix(call, given):
    """Weights come from a column too, where columns have names."""
    with pytest.raises(
        InvalidParameterError,
        match=f"'sample_weight' parameter of {call.__name__} must be left out where columns",
    ):
        call(given, sample_weight=W, label="y", score="p")


@every
def test_names_of_arrays(call):
    """An array has no columns that could be named."""
    with pytest.raises(
        InvalidParameterError, match=rf"'\w+' parameter of {call.__name__} must be a data frame, or a path"
    ):
        call(Y, label="y", score="p")


@every
@pytest.mark.parametrize("role", ["label", "score"])
def test_names_are_texts(call, role):
    """The number of a column is no name."""
    columns = {"label": "y", "score": "p"} | {role: 1}
    with pytest.raises(
        InvalidParameterError, match=f"'{role}' parameter of {call.__name__} must be the name of a column"
    ):
        call(pd.DataFrame(TABLE), **columns)


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


@pytest.mark.parametrize("call", [calibration, reliability_curve], ids=lambda f: f.__name__)
def test_columns_of_probabilities(call):
    """What lies beyond 0 and 1 is no probability, whatever the column is called."""
    frame = pd.DataFrame({"y": [0, 1], "margin": [-1.5, 0.5]})
    with pytest.raises(InvalidInputError, match="'margin' must be probabilities"):
        call(frame, label="y", score="margin")


@pytest.mark.parametrize("score", [[], ["p", "p"], ["p", 3], 3], ids=str)
def test_each_model_has_a_column_of_its_own(score):
    """No model, one model twice, and what is no name are refused."""
    with pytest.raises(InvalidParameterError, match="'score' parameter of compare must be the name"):
        cp.compare(pd.DataFrame(TABLE), label="y", score=score, maximize="f1")


def test_predicted_labels_are_arrays():
    """Without a threshold the second column would hold classes, which are passed as arrays."""
    frame = pd.DataFrame({"y": Y, "guess": Y})
    with pytest.raises(InvalidParameterError, match=r"(?s)'threshold' .* must be given where columns have"):
        cp.evaluate(frame, label="y", score="guess")
    assert 1.0 == cp.evaluate(frame["y"], frame["guess"]).accuracy


def test_a_curve_has_no_columns():
    """A curve is counted already: names would be ignored."""
    with pytest.raises(InvalidParameterError, match="'label' parameter of evaluate must be left out"):
        cp.evaluate(cp.curve(Y, P), threshold=0.5, label="y", score="p")
