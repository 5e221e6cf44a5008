"""What `import cutpoints` loads and what it offers."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import cutpoints

SRC = Path(__file__).parents[1] / "src"

# Names that Python's own import statements leave in a module.
INCIDENTAL = {"annotations", "TYPE_CHECKING"}


def run(code):
    """Run the code in a fresh interpreter and return the JSON that it prints."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_import_loads_numpy_and_nothing_else():
    """`import cutpoints` loads the standard library and NumPy, so that it is as fast as NumPy."""
    # What the interpreter itself had loaded at its start (.pth files) is not ours. Modules without
    # a file are made by compiled modules of NumPy.
    loaded = run(
        """
import json, sys
before = set(sys.modules)
import cutpoints
new = {n.split(".")[0] for n in set(sys.modules) - before if getattr(sys.modules[n], "__file__", 0)}
print(json.dumps(sorted(new - sys.stdlib_module_names)))
"""
    )

    assert {"cutpoints", "numpy"} >= set(loaded)


def test_all_has_no_duplicates():
    """`__all__` names each thing once."""
    assert sorted(set(cutpoints.__all__)) == sorted(cutpoints.__all__)


def test_all_is_what_there_is():
    """`dir(cutpoints)` offers the names of `__all__`, and rooms that happen to be imported."""
    offered = {
        name
        for name in dir(cutpoints)
        if not name.startswith("_")
        and name not in INCIDENTAL
        and (name in cutpoints.__all__ or not isinstance(getattr(cutpoints, name), ModuleType))
    }

    assert {name for name in cutpoints.__all__ if not name.startswith("_")} == offered


@pytest.mark.parametrize("name", cutpoints.__all__)
def test_public_name_exists_and_is_documented(name):
    """Every public name can be imported and has a docstring of its own."""
    value = getattr(cutpoints, name)

    if name != "__version__":
        assert inspect.getdoc(value)
        assert inspect.getdoc(value) != inspect.getdoc(type(value))


def test_the_type_of_every_public_name_is_pinned():
    """A new public name also goes into the file that type checkers check, or users' checkers go unasked."""
    text = (Path(__file__).parent / "typing" / "api.py").read_text(encoding="utf-8")
    modules = {"exceptions", "ilp", "metrics", "plots"}

    assert set(cutpoints.__all__) - {"__version__"} == set(re.findall(r"\bcp\.(\w+)", text)) | modules


def test_unknown_name_is_an_attribute_error():
    """A misspelt name fails as in any module, lazy loading or not."""
    with pytest.raises(AttributeError, match="fnid"):
        cutpoints.fnid  # noqa: B018 - the access is what is tested


def test_a_module_never_hides_the_function_of_its_name():
    """`cutpoints.find` is the function, whether or not the module `cutpoints.find` was loaded."""
    # Importing the submodule `find` makes Python set the attribute `find` of the package to the
    # module. Names that are loaded lazily must be proof against that, in either order.
    begin = "import importlib, json, pkgutil, cutpoints; kinds = []"
    names = "kinds.append({n: type(getattr(cutpoints, n)).__name__ for n in cutpoints.__all__})"
    modules = """
for module in pkgutil.walk_packages(cutpoints.__path__, "cutpoints."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError:  # an extra that is not installed
            pass
"""
    end = "print(json.dumps(kinds))"
    alone, after = run(f"{begin}\n{names}\n{modules}\n{names}\n{end}")
    (first,) = run(f"{begin}\n{modules}\n{names}\n{end}")

    assert alone == after
    assert alone == first
