"""Policies: what they hold, their file, and what a file must be to be believed."""

import hashlib
import json
import math
import os
import pickle
import stat
import time
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints._policy import format as _format
from cutpoints._policy import typed_json
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError
from oracle import on_grid

SCHEMA = _format.schema()
Y, P = [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.35, 0.9]
GUARANTEED = (
    cp.find(Y * 200, P * 200, maximize="recall", subject_to="precision >= 0.3", guarantee=0.9)
    .policy("name", score="p", label="y")
    .to_dict()
)
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    '=HYPERLINK("x")',
    "x'; DROP TABLE t; --",
    'a"b`c\\d',
    "Ünï 分",
]


def solved(n=500, seed=0, dtype=np.float64, **options):
    """A solution on random scores, with its data."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    p = np.round(rng.random(n) * 0.7 + 0.3 * y, 3).astype(dtype)
    return cp.find(y, p, **{"maximize": "f1", **options}), y, p


@pytest.fixture
def content():
    """The JSON form of a policy with everything in it."""
    return solved()[0].policy("name", score="p", label="y").to_dict()


def sealed(content):
    """The content with a checksum that is right, as somebody would write who forges a policy."""
    rest = {k: v for k, v in content.items() if k != "checksum"}
    return {**rest, "checksum": _format.checksum(rest)}


# --- what it holds


def test_a_threshold_is_enough():
    """By hand, a policy needs a threshold and nothing else, and decides."""
    policy = cp.Policy(0.5)

    assert [0, 1] == policy.decide([np.nextafter(0.5, 0), 0.5]).tolist()
    assert policy == cp.Policy.from_dict(policy.to_dict())


def test_it_says_what_the_solution_says():
    """Threshold, goal, value, confusion and certificate are those of the solution."""
    solution, _, _ = solved(subject_to="precision >= 0.6")
    policy = solution.policy("churn", score="p", label="y")

    assert solution.threshold == policy.threshold
    assert ("f1", "maximize", ("precision >= 0.6",)) == (
        policy.objective,
        policy.direction,
        policy.constraints,
    )
    for name in ("status", "value", "interval", "confusion", "rows", "positives", "certificate", "guarantee"):
        assert getattr(solution, name) == getattr(policy.found_on, name)
    assert ("churn", "p", "y", 1) == (policy.name, policy.score, policy.label, policy.pos_label)


def test_a_guarantee_comes_along():
    """What is promised on new data is in the policy, and in its file."""
    solution, _, _ = solved(5000, subject_to="precision >= 0.6", maximize="recall", guarantee=0.9)
    policy = solution.policy()

    assert solution.guarantee == policy.found_on.guarantee
    assert policy == cp.Policy.from_dict(policy.to_dict())


def test_names_of_columns_come_along_from_files(tmp_path):
    """Columns and the positive label that `find` was told need not be told again."""
    path = tmp_path / "scores.csv"
    path.write_text("y,p\nyes,0.9\nno,0.2\nyes,0.4\n", encoding="utf-8")
    policy = cp.find(str(path), label="y", score="p", pos_label="yes", maximize="f1").policy()

    assert ("p", "y", "yes") == (policy.score, policy.label, policy.pos_label)
    assert (
        "other"
        == cp.find(str(path), label="y", score="p", pos_label="yes", maximize="f1")
        .policy(score="other")
        .score
    )


def test_no_policy_without_a_threshold():
    """Where nothing is feasible there is nothing to deploy."""
    with pytest.raises(InfeasibleError, match="No threshold meets"):
        cp.find([0, 1], [0.9, 0.1], maximize="recall", subject_to="precision >= 0.9").policy()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("threshold", math.nan),
        ("threshold", "0.5"),
        ("threshold", None),
        ("threshold", True),
        ("threshold", 10**400),
        pytest.param("threshold", -(10**5000), id="threshold-5000 digits"),
        ("score", ""),
        ("score", 3),
        ("name", "a\0b"),
        ("name", "\ud800"),
        ("name", "x" * 10_001),
        ("pos_label", None),
        ("pos_label", math.nan),
        ("pos_label", 2**63),
        ("missing", "drop"),
        ("dtype", "float16"),
        ("direction", "up"),
        ("constraints", "precision >= 0.9"),
        ("constraints", (1,)),
    ],
)
def test_nonsense_is_refused(field, value):
    """Each field says what it must be."""
    with pytest.raises(InvalidParameterError, match=f"^{field} must be"):
        cp.Policy(**{"threshold": 0.5, field: value})


def test_a_threshold_on_float32_scores_is_one():
    """0.3 is no float32: the error says how to get the nearest one, and that one is accepted."""
    with pytest.raises(
        InvalidParameterError, match=r"(?s)must be a float32.*Hint: pass float\(numpy\.float32"
    ):
        cp.Policy(0.3, dtype="float32")
    policy = cp.Policy(float(np.float32(0.3)), dtype="float32")

    assert policy == cp.Policy.from_dict(policy.to_dict())


def test_a_slip_in_a_goal_by_hand_is_told():
    """A goal that cannot be read is refused when the policy is made, not when it is checked."""
    with pytest.raises(LookupError, match="precision"):
        cp.Policy(0.5, objective="precison", direction="maximize")
    with pytest.raises(InvalidParameterError, match="direction"):
        cp.Policy(0.5, objective="f1")


# --- what it remembers of the data


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "method"), [(300, "sweep"), (40_000, "narrow"), (40_000, "sweep")])
def test_buckets_are_counts_of_the_data(n, method, dtype):
    """Recounted by hand, the buckets hold what they say, and the threshold is one of the edges."""
    solution, y, p = solved(n, dtype=dtype, method=method)
    policy = solution.policy()
    spread = policy.found_on.distribution
    place = np.searchsorted(np.array(spread.edges), p.astype(np.float64), side="right")

    assert np.bincount(place[y == 1], minlength=len(spread.edges) + 1).tolist() == list(spread.positives)
    assert np.bincount(place[y == 0], minlength=len(spread.edges) + 1).tolist() == list(spread.negatives)
    assert policy.threshold in spread.edges
    assert 50 <= len(spread.positives) <= 100
    assert policy.dtype == np.dtype(dtype).name


@given(data=st.data())
def test_buckets_of_any_data(data):
    """Ties, infinities, weights, one class: sums are exact, edges ascend, no bucket is of nobody."""
    n = data.draw(st.integers(1, 30))
    floats = st.sampled_from([0.0, -0.0, 0.5, 1.0, 5e-324, math.inf, -math.inf, 1e300])
    p = data.draw(st.lists(floats, min_size=n, max_size=n))
    y = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    w = data.draw(st.lists(st.sampled_from([0.1, 1.0, 2.5]), min_size=n, max_size=n))
    policy = cp.find(y, p, sample_weight=w, maximize="accuracy").policy()
    spread = policy.found_on.distribution
    (w,) = on_grid(w) if len(set(w)) > 1 else [w]

    for side, label in ((spread.positives, 1), (spread.negatives, 0)):
        edges = [-math.inf, *spread.edges, None]
        for k, mass in enumerate(side):
            low, high = edges[k], edges[k + 1]
            inside = [
                Fraction(weight)
                for score, one, weight in zip(p, y, w, strict=True)
                if one == label and score >= low and (high is None or score < high)
            ]
            assert float(sum(inside)) == mass
    assert all(spread.masses)
    assert policy == cp.Policy.from_dict(json.loads(json.dumps(policy.to_dict(), allow_nan=False)))


def test_the_fingerprint_is_that_of_the_rows():
    """It does not depend on order, engine or method, and changes with a single label or score."""
    solution, y, p = solved(150_000)
    order = np.random.default_rng(1).permutation(len(y))
    print_ = solution.policy().found_on.fingerprint
    flipped, moved = y.copy(), p.copy()
    flipped[p.argmax()] = 1 - flipped[p.argmax()]
    moved[p.argmax()] += 1

    assert print_ == cp.find(y[order], p[order], maximize="f1").policy().found_on.fingerprint
    assert print_ == cp.find(y, p, maximize="f1", method="sweep").policy().found_on.fingerprint
    assert print_ == cp.find(y.astype(bool), p, maximize="f1").policy().found_on.fingerprint
    assert print_ != cp.find(flipped, p, maximize="f1").policy().found_on.fingerprint
    assert print_ != cp.find(y, moved, maximize="f1").policy().found_on.fingerprint


@pytest.mark.parametrize("n", [100, 150_000])
def test_a_solution_does_not_keep_the_data(n):
    """What is kept for the policy is small, does not refer to the user's arrays, and can be pickled."""
    import gc
    import weakref

    class Scores(np.ndarray):
        pass

    p = np.random.default_rng(0).random(n).view(Scores)
    gone = weakref.ref(p)
    solution = cp.find(np.arange(n) % 2, p, maximize="f1")
    before = solution.policy()
    del p
    gc.collect()

    assert gone() is None
    again = pickle.loads(pickle.dumps(solution))  # noqa: S301 - our own
    assert before.found_on == again.policy().found_on
    assert len(pickle.dumps(solution)) < 40_000


def test_the_buckets_are_of_about_equal_weight():
    """Of a long list of cuts a hundred are kept, that split the rows evenly."""
    p = np.random.default_rng(0).random(5000)
    solution = cp.find(np.arange(5000) % 2, p, maximize="f1")
    masses = solution.policy().found_on.distribution.masses

    assert 99 <= len(masses) <= 101
    assert 5000 == sum(masses)
    assert max(masses) < 150


def test_expected_solutions_have_policies():
    """A threshold that was found without labels can be deployed as well."""
    policy = cp.find_expected([0.1, 0.4, 0.8, 0.9], maximize="f1").policy(score="p")

    assert policy == cp.Policy.from_dict(json.loads(json.dumps(policy.to_dict())))


# --- the file


@given(threshold=st.floats(allow_nan=False))
def test_any_threshold_comes_back_as_it_was(threshold):
    """Every float64, infinite and subnormal ones too, survives JSON bit for bit."""
    text = json.dumps(cp.Policy(threshold).to_dict(), allow_nan=False)
    again = cp.Policy.from_dict(json.loads(text)).threshold

    assert (threshold + 0.0).hex() == again.hex()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_saved_and_loaded_it_is_the_same(tmp_path, dtype):
    """A file holds the whole policy, and fits the published schema."""
    policy = solved(dtype=dtype)[0].policy("name", score="p", label="y", missing="keep")
    policy.save(tmp_path / "policy.json")

    assert policy == cp.Policy.load(str(tmp_path / "policy.json"))
    stored = json.loads((tmp_path / "policy.json").read_text(encoding="utf-8"))
    assert policy.to_dict() == stored
    jsonschema.validate(stored, SCHEMA, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    "policy",
    [
        cp.Policy(0.5),
        cp.Policy(math.inf, score="p", pos_label="yes"),
        cp.Policy(-math.inf, pos_label=True),
        cp.find(Y, P, sample_weight=[0.1] * 6, maximize="f1").policy(),
        cp.find(Y, P, maximize="lr_plus").policy(),
    ],
    ids=["bare", "inf", "-inf", "weights", "infinite value"],
)
def test_every_policy_fits_the_schema(policy):
    """What is written is what is published."""
    jsonschema.validate(policy.to_dict(), SCHEMA, cls=jsonschema.Draft202012Validator)


def test_the_schema_is_sound():
    """The schema that is generated is one of draft 2020-12."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_schema_and_reader_know_the_same_fields(content):
    """For each field left out, both the schema and the reader complain."""
    validator = jsonschema.Draft202012Validator(SCHEMA)

    def walk(here, path=()):
        for name, value in here.items():
            yield (*path, name)
            if isinstance(value, dict):
                yield from walk(value, (*path, name))

    for path in walk(content):
        broken = json.loads(json.dumps(content))
        inner = broken
        for name in path[:-1]:
            inner = inner[name]
        del inner[path[-1]]
        assert not validator.is_valid(broken)
        with pytest.raises(InvalidInputError, match=rf"'{'.'.join(path)}' is missing|'format'|version"):
            cp.Policy.from_dict(sealed(broken) if path != ("checksum",) else broken)


@given(data=st.data())
def test_schema_and_reader_believe_the_same(data):
    """Whatever value any field is given, the reader believes its kind if and only if the schema does."""
    content = json.loads(json.dumps(GUARANTEED))
    inner = content
    while True:
        name = data.draw(st.sampled_from(list(inner) if isinstance(inner, dict) else range(len(inner))))
        if not isinstance(inner[name], dict | list) or not inner[name] or data.draw(st.booleans()):
            break
        inner = inner[name]
    odd = [None, True, -1, 0, 1, 2.0, 2.5, 1e300, "", "x", "inf", "a\0", "x" * 10_001, {}, [], [0], ["x"]]
    odd += [[0.5] * 1002, ">=", "expectation", "2026-01-31T12:00:00Z", "٢026-01-31T12:00:00Z", "0x1.8p+0"]
    inner[name] = data.draw(st.sampled_from(odd))
    try:
        typed_json.kind_of(_format.PolicyFile).read(content, "")
        believed = True
    except typed_json.FieldError:
        believed = False

    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(content) == believed


def test_checksum_is_taken_over_values(content):
    """A file that another program has laid out anew is the same policy; a lost digit is not."""
    again = json.dumps(cp.Policy(1.0).to_dict(), sort_keys=True, indent=7)
    assert '"threshold": 1.0' in again
    lost = {**content, "rule": {**content["rule"], "threshold": content["rule"]["threshold"] + 1e-9}}

    assert cp.Policy(1.0) == cp.Policy.from_dict(json.loads(again.replace("1.0", "1")))
    assert cp.Policy(1.0) == cp.Policy.from_dict(json.loads(again.replace("1.0", "10e-1")))
    with pytest.raises(InvalidInputError, match="does not match its checksum"):
        cp.Policy.from_dict(lost)


def test_the_checksum_is_what_the_documentation_says(content):
    """SHA-256 of sorted keys without spaces, integers in decimal, other numbers in hexadecimal."""

    def spell(value):
        if isinstance(value, dict):
            return "{" + ",".join(f"{json.dumps(k)}:{spell(v)}" for k, v in sorted(value.items())) + "}"
        if isinstance(value, list):
            return "[" + ",".join(spell(one) for one in value) + "]"
        if isinstance(value, float):
            return str(int(value)) if value == int(value) else value.hex()
        return json.dumps(value)

    text = spell({k: v for k, v in content.items() if k != "checksum"})
    assert content["checksum"] == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def put(*path, value):
    """Return a function that changes one value of a content."""

    def change(content):
        inner = content
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value
        return content

    return change


@pytest.mark.parametrize("forged", [False, True], ids=["tampered", "forged"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("rule", "threshold", value=0.123), "does not lie in its interval"),
        (put("rule", "threshold", value="NaN"), "'rule.threshold' must be a number, 'inf' or '-inf'"),
        (put("rule", "threshold", value=True), "'rule.threshold' must be a number"),
        (put("rule", "threshold", value=10**400), "'rule.threshold' must be a number"),
        (put("rule", "kind", value="magic"), "'rule.kind' must be 'threshold' or 'segments'"),
        (put("rule", "kind", value=["band"]), "'rule.kind' must be 'threshold' or 'segments'"),
        (put("rule", "kind", value="band"), "'rule.low' is missing"),
        (put("rule", value=">="), "'rule' must be an object"),
        (put("dtype", value="float16"), "'dtype' must be"),
        (put("dtype", value="float32"), "must be a float32"),
        (put("score", value=["p"]), "'score' must be a string of 1 to 10,000 characters or null"),
        (put("score", value=""), "'score' must be a string of 1 to 10,000 characters"),
        (put("pos_label", value=None), "'pos_label' must be a string"),
        (put("constraints", value="precision >= 0.5"), "'constraints' must be a list"),
        (put("found_on", value=[]), "'found_on' must be an object"),
        (put("found_on", "confusion", "tp", value=-1), "'found_on.confusion.tp' must be a number >= 0"),
        (put("found_on", "confusion", "tp", value=3), "does not add up"),
        (put("found_on", "positives", value=3), "does not add up"),
        (put("found_on", "rows", value=2.5), "'found_on.rows' must be an integer >= 0"),
        (put("found_on", "interval", "low", value=0.99), "does not lie in its interval"),
        (put("found_on", "certificate", "passes", value="two"), "'found_on.certificate.passes'"),
        (put("found_on", "fingerprint", value="md5:0"), "'found_on.fingerprint' must be"),
        (put("found_on", "distribution", "edges", 0, value=2.0), "do not ascend"),
        (put("found_on", "distribution", "positives", 0, value=99), "do not add up"),
        (put("created", value="yesterday"), "'created' must be a time"),
        (put("extra", value=1), "the unknown field 'extra'"),
        (put("\ud800", value=1), r"the unknown field '\\ud800'"),
        (put("name", value="\ud800"), "'name' must be a string"),
        (put("found_on", "status", value="\ud800"), "'found_on.status' must be a string"),
        (put("constraints", value=["precision >= 0.5", 3]), r"'constraints\[1\]' must be a string"),
        (put("found_on", "rows", value=10**400), "'found_on.rows' must be an integer"),
        (put("found_on", "confusion", "tp", value=1e308), "does not add up"),
        (put("found_on", "distribution", "positives", value=[1e308] * 100), "do not add up"),
        (put("found_on", "extra", value=1), "the unknown field 'found_on.extra'"),
    ],
)
def test_what_was_changed_is_not_believed(content, change, message, forged):
    """Each kind of damage has its error; with a forged checksum the numbers must still agree."""
    changed = change(content)
    if forged:
        with pytest.raises(InvalidInputError, match=message) as error:
            cp.Policy.from_dict(sealed(changed))
    else:
        with pytest.raises(InvalidInputError, match=f"does not match its checksum|{message}") as error:
            cp.Policy.from_dict(changed)
    assert "Hint:" in str(error.value)


def test_buckets_must_agree_with_the_confusion(content):
    """Mass that was moved across the threshold is found, even if all sums are right."""
    masses = content["found_on"]["distribution"]["positives"]
    full = [i for i, mass in enumerate(masses) if mass]
    masses[full[0]] -= 1
    masses[full[-1]] += 1

    with pytest.raises(InvalidInputError, match="do not agree with tp"):
        cp.Policy.from_dict(sealed(content))


@pytest.mark.parametrize("version", [0, 1, 3, "2", None, True, 2.5])
def test_an_unknown_version_is_told(content, version):
    """A newer format is not guessed at; the message names the library that wrote it."""
    with pytest.raises(InvalidInputError, match=r"format version is .*reads version 2"):
        cp.Policy.from_dict(sealed({**content, "version": version, "new": 1}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON"),
        (b"y,p\n1,0.5\n", "is not JSON"),
        (b"[]", "'format' is not"),
        (b"null", "'format' is not"),
        (b'{"format": "other"}', "'format' is not"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"format": "cutpoints policy", "version": 2, "threshold": NaN}', "number NaN"),
        (b'{"format": "cutpoints policy", "version": 2, "threshold": Infinity}', "number Infinity"),
        (b'{"a": 1, "a": 2}', "the field 'a' twice"),
        (b"1" * 5000, "is not JSON"),
        (b" " * (1 << 25) + b"{}", "more than 33,554,432 bytes"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_a_file_that_is_no_policy(tmp_path, data, message):
    """Whatever is in a file, the answer is one clear error that names it."""
    path = tmp_path / "policy.json"
    path.write_bytes(data)

    with pytest.raises(InvalidInputError, match=message) as error:
        cp.Policy.load(path)
    assert "policy.json' must be a policy file" in str(error.value)


@pytest.mark.parametrize("last", ["f59999", "f0"], ids=["unknown", "twice"])
def test_many_fields_take_no_time(tmp_path, last):
    """A file full of fields is refused at once: no field is looked for among all others."""
    fields = ",".join(f'"f{i}":0' for i in range(59_999))
    path = tmp_path / "policy.json"
    path.write_text(f'{{"format":"cutpoints policy","version":2,{fields},"{last}":0}}', encoding="utf-8")

    start = time.perf_counter()
    with pytest.raises(InvalidInputError, match=r"the field 'f0' twice|is missing"):
        cp.Policy.load(path)
    assert time.perf_counter() - start < 5


def test_a_file_that_is_not_there(tmp_path):
    """A missing file and a directory are told apart."""
    with pytest.raises(InvalidInputError, match="File not found"):
        cp.Policy.load(tmp_path / "none.json")
    with pytest.raises(InvalidInputError, match="directory"):
        cp.Policy.load(tmp_path)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_texts(tmp_path, text):
    """Names and labels come back as they are, whatever they would be elsewhere."""
    policy = cp.Policy(0.5, name=text, score=text, label=text, pos_label=text)
    path = tmp_path / "Ünï it's a policy.json"
    policy.save(path)

    assert policy == cp.Policy.load(path)


def test_loading_executes_nothing(tmp_path, content):
    """Text that would be code elsewhere is kept as text; the goal is read by a white list."""
    mark = tmp_path / "mark"
    code = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    changed = sealed({**content, "objective": code, "name": code, "constraints": [code]})
    policy = cp.Policy.from_dict(changed)

    assert code == policy.objective
    with pytest.raises(InvalidParameterError):
        policy.goal()
    policy.check(P)
    assert not mark.exists()


# --- writing


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """If the disk is full half-way, the old policy is there as it was, and nothing else."""
    path = tmp_path / "policy.json"
    cp.Policy(0.25).save(path)

    def full(self, *_args, **_options):
        self.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InvalidInputError, match="No space left on device"):
        cp.Policy(0.5).save(path)
    monkeypatch.undo()
    assert cp.Policy(0.25) == cp.Policy.load(path)
    assert ["policy.json"] == [one.name for one in tmp_path.iterdir()]


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    """So does Ctrl-C, between writing and replacing."""
    path = tmp_path / "policy.json"
    cp.Policy(0.25).save(path)

    def interrupt(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cp.Policy(0.5).save(path)
    monkeypatch.undo()
    assert 0.25 == cp.Policy.load(path).threshold
    assert ["policy.json"] == [one.name for one in tmp_path.iterdir()]


@pytest.mark.parametrize("place", ["missing/policy.json", "."])
def test_a_place_that_cannot_be_written_to(tmp_path, place):
    """A folder that is not there, and a folder in place of a file."""
    with pytest.raises(InvalidInputError, match="cannot be written"):
        cp.Policy(0.5).save(tmp_path / place)


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
def test_permissions_and_links_stay(tmp_path):
    """A file keeps its permissions, and a link stays a link."""
    path, link = tmp_path / "policy.json", tmp_path / "link.json"
    cp.Policy(0.25).save(path)
    path.chmod(0o640)
    link.symlink_to(path)
    cp.Policy(0.5).save(link)

    assert link.is_symlink()
    assert 0.5 == cp.Policy.load(path).threshold
    assert 0o640 == stat.S_IMODE(path.stat().st_mode)


def test_a_loop_agrees_on_what_is_deployed():
    """Counted row by row, the threshold does what the policy states."""
    solution, y, p = solved(200)
    policy = solution.policy()
    called = [score >= policy.threshold for score in p]
    counts = {
        "tp": sum(c and one for c, one in zip(called, y, strict=True)),
        "fp": sum(c and not one for c, one in zip(called, y, strict=True)),
    }

    assert counts["tp"] == policy.found_on.confusion.tp
    assert counts["fp"] == policy.found_on.confusion.fp


@pytest.mark.parametrize("data", [[0.1, math.nan], {"p": [0.1, math.nan]}])
def test_missing_scores_are_told_what_can_be_done(data):
    """`decide` can take them for negative, and says so, for arrays and frames as for files."""
    scores = pytest.importorskip("pandas").DataFrame(data) if isinstance(data, dict) else data
    with pytest.raises(ValueError, match=r"(?s)1 of 2 scores is missing.*missing='negative'"):
        cp.Policy(0.5, score="p").decide(scores)


@pytest.mark.parametrize("same", [False, True], ids=["different names", "one name"])
def test_very_many_fields_are_refused_at_once(tmp_path, same):
    """A check that compares all names with each other would take minutes."""
    path = tmp_path / "forged.json"
    fields = [f'"k{0 if same else i}": 1' for i in range(60_000)]
    path.write_text("{" + ",".join(fields) + "}", encoding="utf-8")

    with pytest.raises(InvalidInputError, match="must be a policy file"):
        cp.Policy.load(path)


@pytest.mark.parametrize("place", ["name", "score", "objective", "\ud800"])
def test_half_of_a_surrogate_pair_is_refused(tmp_path, place):
    """No file, terminal or database can hold it."""
    path = tmp_path / "forged.json"
    cp.find([0, 1, 1], [0.1, 0.2, 0.3], maximize="f1").policy().save(path)
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), place: "\ud800"}))
    with pytest.raises(InvalidInputError, match="must be a policy file") as caught:
        cp.Policy.load(path)

    assert str(caught.value).encode()


@pytest.mark.parametrize(
    "name", ["float", "isinstance", "list", "tuple", "zip", "len", "score", "class", "a b"]
)
def test_functions_do_not_take_names_that_their_source_needs(name):
    """A function called float calls itself."""
    with pytest.raises(InvalidParameterError, match="function must be a name"):
        cp.Policy(0.5).to_python(function=name)
