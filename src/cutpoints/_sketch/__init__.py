"""Sketches: counts that can be kept, saved and added up, and honest answers from one pass."""

from cutpoints._sketch.answers import AucBounds, BestSoFar
from cutpoints._sketch.sketch import Sketch

__all__ = ["AucBounds", "BestSoFar", "Sketch"]
