"""The public signatures as type checkers see them: checked by mypy and basedpyright, never run.

A change here is a change of what users' own checkers say about their code.
"""

from pathlib import Path
from typing import Any, Literal, assert_type

import numpy as np
from numpy.typing import NDArray

import cutpoints as cp
from cutpoints import exceptions, ilp, plots
from cutpoints import metrics as m

y = [0, 1, 0, 1]
p = np.array([0.1, 0.4, 0.35, 0.8])
segment = ["a", "a", "b", "b"]

# Metrics are expressions, and comparisons of them are constraints.
assert_type(m.f1, m.Metric)
assert_type(m.f1(tp=9, fp=2, fn=1, tn=8), Any)
assert_type(0.7 * m.accuracy + 0.3 * m.recall, m.Expression)
by_count: m.Expression = m.cost(fp=1, fn=5)
by_row: m.Expression = m.cost(fp=5, fn=m.column("amount"))
assert_type(m.precision >= 0.95, m.Constraint)
assert_type(m.fpr <= 0.01, m.Constraint)
assert_type(m.get("mcc"), m.Expression)
assert_type(m.f(beta=2), m.Metric)
assert_type(m.net_benefit(at=0.2), m.Metric)
per_row: m.Expression = m.cost_per_row(fp=1, fn=5)
earned: m.Expression = m.profit(tp=50, fp=-5, fn=-1 * m.column("amount"))
minutes: m.Expression = m.called(m.column("minutes"))
catalogue: tuple[m.Metric, ...] = (
    *(m.accuracy, m.balanced_accuracy, m.error_rate, m.false_omission_rate, m.fdr, m.fnr, m.fpr, m.npv),
    *(m.precision, m.recall, m.specificity, m.diagnostic_odds_ratio, m.f1, m.fowlkes_mallows, m.g_mean),
    *(m.jaccard, m.kappa, m.lr_minus, m.lr_plus, m.markedness, m.mcc, m.p4, m.precision_recall_mean),
    *(m.precision_recall_min, m.prevalence_threshold, m.youden_j, m.chi_square, m.corner_distance),
    *(m.information_gain, m.lift, m.predicted_positive, m.predicted_positive_rate, m.prevalence),
    m.sensitivity_specificity_gap,
)

# read, from_counts
data = cp.read(Path("scores.csv"), label="y", score="p", where="month = 10")
assert_type(data, cp.Data)
assert_type(cp.from_counts([0.1, 0.2], positives=[1, 2], negatives=[3, 4]), cp.Data)

# find: the goal is a name, a text, an expression or a function; the data are arrays, a frame or files.
solution = cp.find(y, p, maximize="f1")
assert_type(solution, cp.Solution)
assert_type(solution.threshold, float | None)
assert_type(solution.value, float | None)
assert_type(solution.confusion, cp.Confusion | None)
assert_type(solution.constraints, tuple[str, ...])
assert_type(solution.certificate.upper, float)
assert_type([tie.threshold for tie in solution.ties], list[float])
assert_type(solution.metrics(), dict[str, float])
assert_type(solution.decide(p), NDArray[np.int8])
assert_type(solution.raise_if_infeasible(), cp.Solution)
assert_type(solution.to_dict(), dict[str, Any])
if solution.interval is not None:
    assert_type(solution.interval.low, float)
if solution.confusion is not None:
    assert_type(solution.confusion.tp, int | float)
    assert_type(solution.confusion.metric("f1"), float)
cp.find(y, p, minimize=m.cost(fp=1, fn=5), subject_to=[m.precision >= 0.9, "recall >= 0.5"])
cp.find("scores.csv", label="y", score="p", maximize=0.7 * m.accuracy + 0.3 * m.recall)
cp.find(data, maximize="recall", subject_to=m.precision >= 0.9, guarantee=0.95)
cp.find(y, p, maximize=lambda tp, fp, fn, tn: tp - fp)
cp.find(y, p, maximize="f1", by=segment, each="precision >= 0.5")

# find_by: one solution for each segment
segments = cp.find_by(y, p, by=segment, maximize="f1", min_rows=2)
assert_type(segments["a"].threshold, float | None)
assert_type(segments["a"].decide(p), NDArray[np.int8])
assert_type(segments.solved, dict[Any, cp.Solution])
assert_type(segments.unsolved, dict[Any, str])
assert_type(segments.policy("by segment", default="error"), cp.Policy)

# find_joint: one goal over all segments
joint = cp.find_joint(y, p, by=segment, maximize="recall", subject_to="precision >= 0.5", gap="recall <= 0.1")
assert_type(joint.value, float | None)
assert_type(joint.thresholds, dict[Any, float])
assert_type(joint["a"].threshold, float)
assert_type(joint.single, cp.Solution)
assert_type(joint.cross_validated.value, float)
assert_type(joint.decide(p, by=segment), NDArray[np.int8])
assert_type(joint.policy("joint"), cp.Policy)

# find_labels: rows that may have several labels
labels = cp.find_labels([[0, 1], [1, 0]], [[0.1, 0.8], [0.7, 0.2]], maximize="f1", average="macro")
assert_type(labels.thresholds, dict[Any, float])
assert_type(labels["spam"], float)
assert_type(labels.confusion, cp.Confusion | None)
assert_type(labels.policy("labels"), cp.Policy)

# find_band, bayes_band: yes, no, and review in between
band = cp.find_band(y, p, minimize="cost(fp=5, fn=20, review=1)", capacity=100)
assert_type(band.low, float | None)
assert_type(band.high, float | None)
assert_type(band.coverage, float | None)
assert_type(band.decide(p), NDArray[np.int8])
assert_type(band.raise_if_infeasible().policy("band"), cp.Policy)
assert_type(cp.bayes_band("cost(fp=5, fn=20, review=1)").low, float)

# find_ordinal, find_class_weights, bayes_decision: more than two classes
ordinal = cp.find_ordinal([0, 1, 2], [0.1, 0.5, 0.9], maximize="quadratic_kappa")
assert_type(ordinal.cutpoints, tuple[float, ...])
assert_type(ordinal.value, float)
assert_type(ordinal.decide([0.3]), NDArray[Any])
weights = cp.find_class_weights(y, np.zeros((4, 2)), maximize="macro_f1")
assert_type(weights.weights, tuple[float, ...])
assert_type(cp.bayes_decision(np.zeros((4, 2)), cost=[[0, 1], [5, 0]]), NDArray[Any])

# find_expected, expected_gain, bayes_threshold: probabilities without labels
expected = cp.find_expected(p, maximize="f1")
assert_type(expected.threshold, float | None)
assert_type(expected.curve().values, NDArray[np.float64])
assert_type(cp.expected_gain(p, fp=-5, fn=-100), NDArray[np.float64])
assert_type(cp.bayes_threshold(fp=1, fn=5), float)

# curve
curve = cp.curve(y, p)
assert_type(curve.auc, float)
assert_type(curve.average_precision, float)
assert_type(curve.thresholds, NDArray[np.float64])
assert_type(curve.values("f1"), NDArray[np.float64])
assert_type(curve.best(maximize="f1"), cp.Solution)
assert_type(curve.roc().fpr, NDArray[np.float64])
assert_type(curve.pr().precision, NDArray[np.float64])
assert_type(curve.at(0.5).confusion, cp.Confusion)
assert_type(curve.split_loss(minimize=m.cost(fp=1, fn=5)).ranking, float)

# evaluate, evaluate_classes
evaluation = cp.evaluate(y, p, threshold=0.5, metrics=["f1", m.cost(fp=1, fn=5)])
assert_type(evaluation.metrics["f1"], float)
assert_type(evaluation.intervals["recall"].low, float)
assert_type(evaluation.confusion, cp.Confusion)
assert_type(evaluation.warnings, tuple[str, ...])
assert_type(cp.evaluate_classes(y, y).accuracy, float)
assert_type(cp.evaluate_classes(y, y).averages["macro"]["f1"], float)

# assess: what to expect on new data
assessment = cp.assess(y, p, maximize="f1", cv="loo", random_state=0)
assert_type(assessment.summary, str)
assert_type(assessment.solution, cp.Solution)
assert_type(assessment.cross_validated, float)
assert_type(assessment.lower_bound, float)
assert_type(assessment.near_optimal.low, float)

# compare: which model
comparison = cp.compare(y, {"old": p, "new": p}, maximize="f1")
assert_type(comparison.winner, str)
assert_type(comparison.ranking, list[str])
assert_type(comparison.entries["old"].threshold, float | None)
assert_type(comparison.tests[0].mcnemar.p_value, float)

# calibration, recalibrate, estimate_prevalence, adjust_prior
calibration = cp.calibration(y, p, strategy="quantile", n_bins=5)
assert_type(calibration.ece, float)
assert_type(calibration.verdict, str)
assert_type(calibration.curve.observed, NDArray[np.float64])
assert_type(cp.recalibrate(y, p, method="sigmoid").transform(p), NDArray[np.float64])
assert_type(cp.estimate_prevalence(p, train_prevalence=0.5).prevalence, float)
assert_type(cp.adjust_prior(p, train_prevalence=0.5, new_prevalence=0.1), NDArray[np.float64])

# report
report = cp.report(y, p, path="report.html", maximize="f1", title="Tumors")
assert_type(report.html(), str)
assert_type(report.save(Path("report.html")), Path)

# Policy
policy = solution.policy("tumors", description="who is called back")
assert_type(policy, cp.Policy)
assert_type(policy.threshold, float)
assert_type(policy.decide(p), Any)
assert_type(policy.apply("new.csv", output="decided.csv").positive, int)
assert_type(policy.to_sql(dialect="duckdb"), str)
assert_type(policy.to_python(), str)
assert_type(policy.check(y, p).status, Literal["fine", "unsure", "attention"])
assert_type(policy.check("new.csv", state="state.json").alarms, tuple[str, ...])
policy.save(Path("policy.json"))
assert_type(cp.Policy.load("policy.json"), cp.Policy)
assert_type(cp.Policy.band(0.2, 0.8), cp.Policy)
assert_type(cp.Policy.from_dict(policy.to_dict()), cp.Policy)

# Sketch, for rows in passing
sketch = cp.Sketch().update(y, p).merge(cp.Sketch.load("monday.sketch"))
assert_type(sketch, cp.Sketch)
assert_type(sketch.to_bytes(), bytes)
assert_type(sketch.refine(data, maximize="f1"), cp.Solution)


def _gain(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return tp - fp


assert_type(m.custom(_gain, name="gain", monotone=True), m.Expression)


# Population, of known densities
def _density(score: float) -> float:
    return 2 * score


population = cp.Population(_density, _density, prevalence=0.1, support=(0, 1))
assert_type(population.best(maximize="f1").threshold, float)
assert_type(population.posterior(0.5), float)

# CutpointClassifier, nested_cv, scorer
classifier = cp.CutpointClassifier(object(), maximize="f1", subject_to="recall >= 0.5").fit(p, y)
assert_type(classifier, cp.CutpointClassifier)
assert_type(classifier.best_threshold_, float)
assert_type(classifier.predict(p), NDArray[Any])
assert_type(classifier.predict_proba(p), NDArray[Any])
nested = cp.nested_cv(object(), {"C": [1, 10]}, p, y, maximize="f1", search="random")
assert_type(nested.values, NDArray[np.float64])
assert_type(nested.folds[0].threshold, float)
assert_type(cp.scorer(maximize="f1"), Any)

# plots, ilp
assert_type(plots.RocDisplay.from_predictions(y, p), plots.RocDisplay)
assert_type(plots.ThresholdDisplay.from_curve(curve, maximize="f1").plot(), plots.ThresholdDisplay)
assert_type(plots.RocDisplay.from_predictions(y, p).save("roc.png"), Path)
assert_type(plots.BandDisplay.from_predictions(y, p, band=band), plots.BandDisplay)
assert_type(plots.BrierCurveDisplay.from_curve(curve), plots.BrierCurveDisplay)
assert_type(plots.ComparisonDisplay.from_comparison(comparison), plots.ComparisonDisplay)
assert_type(plots.ConfusionDisplay.from_confusion(evaluation.confusion), plots.ConfusionDisplay)
assert_type(plots.ContourDisplay.from_metric("f1"), plots.ContourDisplay)
assert_type(plots.CostCurveDisplay.from_curve(curve), plots.CostCurveDisplay)
assert_type(plots.DecisionCurveDisplay.from_curve(curve), plots.DecisionCurveDisplay)
assert_type(plots.DetDisplay.from_curve(curve), plots.DetDisplay)
assert_type(plots.ExpectedCurveDisplay.from_probabilities(p, maximize="f1"), plots.ExpectedCurveDisplay)
assert_type(plots.GainDisplay.from_curve(curve), plots.GainDisplay)
assert_type(plots.JointFrontierDisplay.from_joint(joint), plots.JointFrontierDisplay)
assert_type(plots.KsDisplay.from_curve(curve), plots.KsDisplay)
assert_type(plots.LiftDisplay.from_curve(curve), plots.LiftDisplay)
assert_type(plots.PrecisionRecallDisplay.of_curve(curve), plots.PrecisionRecallDisplay)
assert_type(plots.ProfitDisplay.from_curve(curve), plots.ProfitDisplay)
assert_type(plots.ReliabilityDisplay.from_predictions(y, p), plots.ReliabilityDisplay)
assert_type(plots.RiskCoverageDisplay.from_risk_coverage(curve.risk_coverage()), plots.RiskCoverageDisplay)
assert_type(plots.ScoresDisplay.from_curve(curve), plots.ScoresDisplay)
assert_type(plots.BY_NAME["roc"], str)
assert_type(ilp.formulate(y, p, maximize="accuracy"), ilp.Model)
assert_type(ilp.formulate(y, p, maximize="accuracy").run(), ilp.Run)
assert_type(ilp.formulate(y, p, maximize="accuracy").mixture(), ilp.Mixture)
assert_type(ilp.formulate(y, p, maximize="accuracy").solve(), cp.Solution)

# Every keyword, once: those that the calls above leave out.
cp.read(["a.csv", "b.csv"], label="y", score=["p", "q"], weight="w", pos_label="yes", lower_is_positive=True)
cp.read(
    "counts.csv",
    score="p",
    positives="buyers",
    negatives="others",
    sql="select * from data",
    memory_limit="2GB",
)
cp.find(
    "a.csv", label="y", score="p", weight="w", pos_label=1, maximize="f1", method="narrow", random_state=None
)
cp.find(y, p, maximize="f1", sample_weight=[1, 2, 1, 1], lower_is_positive=True)
cp.find_by(y, p, by=segment, minimize="error_rate", subject_to="recall >= 0.5", guarantee="expectation")
cp.find_by(
    "a.csv", by=["country"], label="y", score="p", weight="w", pos_label=1, maximize="f1", method="sweep"
)
cp.find_by(y, p, by=segment, maximize="f1", sample_weight=p, lower_is_positive=True, random_state=1)
cp.find_joint(
    "a.csv", by="country", label="y", score="p", weight="w", pos_label=1, minimize="cost(fp=1, fn=5)"
)
cp.find_joint(
    y, p, by=segment, maximize="f1", each="recall >= 0.5", sample_weight=p, guarantee=0.9, random_state=1
)
cp.find_labels("a.csv", by="tag", label="y", score="p", minimize="error_rate", subject_to="precision >= 0.5")
cp.find_labels(y, p, maximize="f1", each="recall >= 0.5", min_rows=20, sample_weight=p, random_state=None)
cp.find_band(
    "a.csv", label="y", score="p", weight="w", pos_label=1, maximize="coverage", subject_to="npv >= 0.9"
)
cp.find_band(y, p, minimize="error_rate", reviewer=(0.9, 0.9), guarantee=0.9, sample_weight=p, random_state=1)
cp.find_band(y, p, minimize=m.cost(fp=5, fn=20, tp=1, tn=0, review=1), capacity={"minutes": 2400})
cp.bayes_band(m.profit(tp=1, tn=1, fp=-5, fn=-20, review=-1), reviewer=(0.9, 0.9))
cp.find_ordinal("a.csv", label="y", score="p", weight="w", minimize="squared_error", classes=["low", "high"])
cp.find_ordinal(y, p, maximize="accuracy", sample_weight=p, random_state=1)
cp.find_class_weights(y, np.zeros((4, 2)), maximize="accuracy", classes=[0, 1], random_state=1)
cp.bayes_decision(np.zeros((4, 2)), [[0, 1], [5, 0]], classes=["no", "yes"])
cp.find_expected(
    "a.csv", score="p", weight="w", minimize="error_rate", subject_to="recall >= 0.5", method="sweep"
)
cp.find_expected(p, maximize="f1", sample_weight=p, exact_expectation=True, zero_division=0)
cp.expected_gain(p, tp=1, fp=-5, fn=-100, tn=0)
cp.bayes_threshold(tp=0, fp=1, fn=5, tn=0)
cp.adjust_prior("a.csv", score="p", train_prevalence=0.5, new_prevalence=0.1)
cp.estimate_prevalence("a.csv", score="p", train_prevalence=0.5)
cp.curve("a.csv", label="y", score="p", weight="w", pos_label=1, lower_is_positive=True, columns="amount")
cp.curve(y, p, sample_weight=p, metrics=["f1"])
cp.evaluate("a.csv", threshold=0.5, label="y", score="p", weight="w", pos_label=1, interval="clopper_pearson")
cp.evaluate(y, p, threshold=0.5, sample_weight=p, confidence=0.9)
cp.evaluate_classes("a.csv", label="y", predicted="called", score=["a", "b"], weight="w")
cp.evaluate_classes(y, np.zeros((4, 2)), sample_weight=p, labels=[0, 1], top_k=2)
cp.assess(
    "a.csv", label="y", score="p", weight="w", pos_label=1, minimize="error_rate", subject_to="recall >= 0.5"
)
cp.assess(y, p, maximize="f1", sample_weight=p, groups=segment, stratify=False, tolerance=0.01, n_bootstrap=0)
cp.assess(y, p, maximize="f1", confidence=0.9)
cp.compare(
    "a.csv", label="y", score=["p", "q"], weight="w", pos_label=1, minimize="error_rate", n_bootstrap=0
)
cp.compare(y, {"p": p}, maximize="f1", subject_to="recall >= 0.5", sample_weight=p, lower_is_positive=True)
cp.compare(y, {"p": p}, maximize="f1", confidence=0.9, random_state=np.random.default_rng(0))
cp.calibration("a.csv", label="y", score="p", pos_label=1)
cp.recalibrate("a.csv", label="y", score="p", pos_label=1)
cp.report("a.csv", label="y", score=["p", "q"], weight="w", pos_label=1, by="country", minimize="error_rate")
cp.report(
    y, p, maximize="f1", subject_to="recall >= 0.5", sample_weight=p, positive_name="fraud", random_state=1
)
cp.report(y, p, maximize="f1", case_name="payment", unit="EUR", per_month=30_000)
cp.scorer(minimize="cost(fp=1, fn=5)", subject_to="recall >= 0.5", pos_label="yes")
cp.CutpointClassifier(object(), minimize="error_rate", guarantee=0.9, cv=0.3, refit=False, threshold="pooled")
cp.CutpointClassifier(
    object(), scoring="f1", pos_label="yes", n_jobs=2, random_state=0, store_cv_results=True
)
cp.CutpointClassifier(object(), maximize="f1", response_method="predict_proba")
cp.nested_cv(
    object(), {}, p, y, minimize="error_rate", subject_to="recall >= 0.5", outer_cv=5, cv="loo", n_iter=9
)
cp.nested_cv(
    object(), {}, p, y, maximize="f1", groups=segment, sample_weight=p, pos_label=1, refit=False, factor=2
)
cp.nested_cv(
    object(), {}, p, y, maximize="f1", response_method="auto", n_jobs=2, random_state=0, progress=True
)
per_row = m.cost_per_row(tp=0, fp=1, fn=5, tn=0, review=1)
counted = cp.Confusion(tp=4, fp=1, fn=0, tn=5)

written = solution.policy(score="p", label="y", pos_label=1, missing="keep")
policy = cp.Policy(
    0.5, score="p", label="y", pos_label=1, missing="negative", dtype="float32", name="a", description=""
)
cp.Policy(rule=policy.rule, objective="f1", direction="maximize", constraints=("recall >= 0.5",))
cp.Policy(0.5, found_on=policy.found_on, created="2026-10-01T00:00:00Z", library="0.1.0")
cp.Policy.segments({"DE": 0.4}, by="country", default=0.5)
cp.Policy.labels({"sport": 0.4}, scores={"sport": "p"})
cp.Policy.ordinal([0.2, 0.6], classes=["low", "medium", "high"])
policy.decide(p, score="p", column="called", missing="keep", positive="yes", negative="no", review="look")
policy.apply("new.csv", output="out.csv", score="p", column="called", missing="keep", memory_limit="2GB")
policy.check(
    "new.csv", label="y", score="p", pos_label=1, by="country", alpha=0.01, psi=0.2, state="s", batch="1"
)
policy.to_sql(dialect="postgres", missing="negative")
policy.to_python(function="rule", missing="negative")
policy.to_onnx("rule.onnx", missing="negative")
policy.to_sklearn(object(), response_method="predict_proba")
sketch = cp.Sketch(max_weight=100, max_rows=10**6).update(y, p, sample_weight=p, pos_label=1)
sketch.best(maximize="f1", subject_to="recall >= 0.5")
sketch.best(minimize="error_rate")
sketch.refine(
    "a.csv", label="y", score="p", weight="w", pos_label=1, minimize="error_rate", subject_to="fpr <= 0.1"
)
sketch.refine(y, p, maximize="f1", sample_weight=p)
population.best(minimize="error_rate")

model = ilp.formulate(
    "a.csv", label="y", score="p", weight="w", pos_label=1, minimize="error_rate", group=True
)
ilp.formulate(y, p, maximize="recall", subject_to="precision >= 0.5", sample_weight=p, formulation="document")
ilp.formulate(y, p, maximize="accuracy", epsilon=0.01, as_printed=True)
model.run(time_limit=10, gap=0.01, log=print)
model.solve(time_limit=10, gap=0.01, log=print)
model.write("model.lp", value=0.7)

ax: Any = None
plots.RocDisplay.from_predictions(y, p, sample_weight=p, pos_label=1).save(
    "a.png", title="A", dpi=100, size=(6, 4)
)
plots.RocDisplay.from_curve(curve, ax=ax)
plots.RocDisplay.of_curve(curve, hull=False, name="a")
plots.PrecisionRecallDisplay.of_curve(curve, iso_f=True, steps=False)
plots.ScoresDisplay.of_curve(curve, bins=20, density=True)
plots.ThresholdDisplay.of_curve(curve, metrics=["f1"])
plots.DecisionCurveDisplay.of_curve(curve, probability=[0.1, 0.2], standardized=True)
plots.RiskCoverageDisplay.of_curve(curve, band=band)
plots.RiskCoverageDisplay.from_risk_coverage(curve.risk_coverage(), band=band, ax=ax)
plots.RiskCoverageDisplay.of_risk_coverage(curve.risk_coverage(), band=band)
plots.ConfusionDisplay.from_confusion(evaluation.confusion, title="A", ax=ax)
plots.ConfusionDisplay.from_matrix(np.eye(2), ["no", "yes"], title="A", ax=ax)
plots.ComparisonDisplay.from_comparison(comparison, ax=ax)
plots.ContourDisplay.from_metric("f1", ax=ax)
plots.ContourDisplay.of_metric("f1", prevalence=0.1, points={"a": (0.8, 0.8)})
plots.ExpectedCurveDisplay.from_probabilities(p, maximize="f1", sample_weight=p, against="rows", ax=ax)
plots.JointFrontierDisplay.from_joint(joint, ax=ax)
plots.ReliabilityDisplay.from_predictions(y, p, pos_label=1, ax=ax, name="a")

# exceptions
try:
    solution.raise_if_infeasible()
except exceptions.InfeasibleError as error:
    assert_type(error.constraints, tuple[str, ...])
except (exceptions.InvalidInputError, exceptions.MissingDependencyError) as error:
    caught: exceptions.CutpointError = error
except exceptions.InvalidParameterError as error:
    assert_type(error.parameter, str)
except (exceptions.SolverError, exceptions.UnknownMetricError) as error:
    built_in: RuntimeError | LookupError = error
warned: tuple[type[Warning], ...] = (exceptions.DataWarning, exceptions.LeakageWarning)

# What checkers refuse: a misspelled keyword, a word that is none of the choices, a threshold that is not
# asked for or may be None. An ignore that is not needed is an error.
cp.find(y, p, maximise="f1")  # type: ignore[call-arg]
cp.find_labels(y, p, maximize="f1", average="mean")  # type: ignore[arg-type]
cp.evaluate(y, p)  # type: ignore[call-arg]
stricter = solution.threshold + 0.1  # type: ignore[operator]
