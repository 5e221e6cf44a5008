"""The deployable rule: a policy file, its decisions everywhere, and whether it still holds."""

from cutpoints._policy.checks import Check
from cutpoints._policy.policy import Policy
from cutpoints._policy.record import Distribution, FoundOn

__all__ = ["Check", "Distribution", "FoundOn", "Policy"]
