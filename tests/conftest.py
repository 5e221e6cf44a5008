"""Settings that hold for all tests."""

from hypothesis import settings

# The normal run is reproducible: the examples depend on the test alone, so a red run stays red.
# No deadline, since the first call of a test pays for imports and two workers share two cores.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100)

# `pytest --hypothesis-profile=explore` searches on new examples, and keeps what it finds.
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=2000)

settings.load_profile("ci")
