"""The confusion matrix, of two classes or more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.exceptions import InvalidParameterError
from cutpoints.plots._style import Display, choose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve
    from cutpoints._result import Confusion

_DARK = 0.55


@dataclass
class ConfusionDisplay(Display):
    """Counts and shares of each true class; rows are the truth, columns the decision.

    Attributes
    ----------
    confusion_matrix : ndarray of shape (n_classes, n_classes)
    labels : list of str
    title : str
    """

    confusion_matrix: NDArray[Any]
    labels: list[str]
    title: str = ""
    size = (5.2, 4.6)

    @classmethod
    def from_confusion(cls, confusion: Confusion, *, title: str = "", ax: Axes | None = None) -> Self:
        """Draw a `Confusion`: positives first, as in a two-by-two table."""
        return cls._of_confusion(confusion, title).plot(ax=ax)

    @classmethod
    def from_matrix(cls, matrix: Any, labels: Any, *, title: str = "", ax: Axes | None = None) -> Self:
        """Draw a matrix of any number of classes, such as `evaluate(...).confusion_matrix`."""
        return cls(np.asarray(matrix), [str(label) for label in labels], title).plot(ax=ax)

    @classmethod
    def _of_confusion(cls, c: Confusion, title: str) -> Self:
        return cls(np.array([[c.tp, c.fn], [c.fp, c.tn]]), ["positive", "negative"], title)

    @classmethod
    def of_curve(cls, of: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(of, **point)
        if chosen is None:
            raise InvalidParameterError.of(
                parameter="threshold",
                caller="ConfusionDisplay",
                must_be="given, or else a goal",
                got=None,
                hint="for example threshold=0.5 or maximize='f1'.",
            )
        return cls._of_confusion(chosen.confusion, chosen.label)

    def _draw(self, ax: Axes) -> None:
        matrix = self.confusion_matrix.astype(np.float64)
        totals = matrix.sum(axis=1, keepdims=True)
        shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
        few = len(matrix) <= 10
        for (i, j), count in np.ndenumerate(matrix):
            text = f"{count:,.6g}"
            if few:
                text += f"\n{100 * shares[i, j]:.1f} %"
            ink = "white" if shares[i, j] > _DARK else "black"
            ax.text(
                j,
                i,
                text,
                ha="center",
                va="center",
                color=ink,
                fontsize="large" if len(matrix) < 4 else "small",
            )
        ticks = range(len(self.labels))
        ax.set_xticks(ticks, [f"called {x}" for x in self.labels] if len(matrix) == 2 else self.labels)
        ax.set_yticks(ticks, self.labels)
        ax.set(xlabel="Decision", ylabel="Truth")
        if self.title:
            ax.set_title(self.title, fontsize="medium")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
