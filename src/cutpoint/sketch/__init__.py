"""Sketches: counts that can be kept, saved and added up, and honest answers from one pass."""

from cutpoint.sketch._answers import AucBounds, BestSoFar
from cutpoint.sketch._sketch import Sketch

__all__ = ["AucBounds", "BestSoFar", "Sketch"]
