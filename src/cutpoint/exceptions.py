"""What cutpoint raises, to be caught: ``except cp.exceptions.CutpointError``.

Each is also an exception of Python that people know: `InvalidInputError` is a `ValueError`,
`UnknownMetricError` a `LookupError`, `MissingDependencyError` an `ImportError`.

>>> import cutpoint as cp
>>> try:
...     cp.find([0, 1], [0.2, float("nan")], maximize="f1")
... except cp.exceptions.InvalidInputError as error:
...     print(str(error).splitlines()[0])
'y_score' must not contain NaN or null. 1 of 2 values is missing, the first at row 1 (counting from 0).
"""

from cutpoint._errors import (
    CutpointError,
    DataWarning,
    InfeasibleError,
    InvalidInputError,
    InvalidParameterError,
    MissingDependencyError,
    SolverError,
    UnknownMetricError,
)

__all__ = [
    "CutpointError",
    "DataWarning",
    "InfeasibleError",
    "InvalidInputError",
    "InvalidParameterError",
    "MissingDependencyError",
    "SolverError",
    "UnknownMetricError",
]
