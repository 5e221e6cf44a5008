"""`CutpointClassifier` with costs that differ from row to row: columns come with the rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import cutpoints as cp
from cutpoints import CutpointClassifier
from cutpoints.exceptions import InvalidInputError, InvalidParameterError


def _payments(rows=600):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(rows, 3))
    y = (rng.random(rows) < 1 / (1 + np.exp(2 - 2 * X[:, 0]))).astype(int)
    return X, y, np.round(rng.lognormal(3, 1, rows), 2)


def test_a_miss_costs_its_amount():
    """Columns of the goal are split with the rows, from `fit` or from the columns of X."""
    X, y, amount = _payments()
    model = CutpointClassifier(LogisticRegression(), minimize="cost(fp=5, fn=amount)", threshold="pooled")
    model.fit(X, y, amount=amount)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=StratifiedKFold(5), method="predict_proba")
    expected = cp.find(y, scores[:, 1], minimize=cp.metrics.cost(fp=5, fn=amount))

    assert (expected.threshold, expected.value) == (model.threshold_, model.best_score_)
    assert model.cross_validated_value_ >= model.best_score_
    frame = pd.DataFrame(X, columns=list("abc")).assign(amount=amount)
    named = clone(model).set_params(estimator=make_pipeline(_first_three(), LogisticRegression()))
    assert model.threshold_ == named.fit(frame, y).threshold_


def _first_three():
    return FunctionTransformer(lambda frame: frame[list("abc")].to_numpy())


def test_columns_are_routed():
    """With metadata routing, cross-validation hands the amounts of each fold on without being told to."""
    X, y, amount = _payments(300)
    model = CutpointClassifier(LogisticRegression(), minimize="cost(fp=5, fn=amount)")
    with config_context(enable_metadata_routing=True):
        found = cross_validate(model, X, y, cv=3, params={"amount": amount}, return_estimator=True)

    assert [200] * 3 == [one.solution_.rows for one in found["estimator"]]


@pytest.mark.parametrize(
    ("goal", "params", "words"),
    [
        ("cost(fp=5, fn=amount)", {}, "amount must be given to fit"),
        ("cost(fp=5, fn=amount)", {"amount": [1.0, 2.0]}, "same number of rows|index"),
        (cp.metrics.cost(fp=5, fn=np.ones(4)), {}, "given by name"),
    ],
)
def test_columns_that_cannot_be_used(goal, params, words):
    """A column that is missing, too short or an array is an error."""
    X, y, _ = _payments(100)
    with pytest.raises((InvalidParameterError, InvalidInputError, IndexError), match=words):
        CutpointClassifier(LogisticRegression(), minimize=goal).fit(X, y, **params)
