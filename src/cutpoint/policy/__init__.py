"""The deployable rule: a policy file, its decisions everywhere, and whether it still holds."""

from cutpoint.policy._check import Check
from cutpoint.policy._policy import Policy
from cutpoint.policy._record import Distribution, FoundOn

__all__ = ["Check", "Distribution", "FoundOn", "Policy"]
