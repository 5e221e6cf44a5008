"""Settings that hold for all tests."""

import pytest
from hypothesis import HealthCheck, settings

from engines import servers

collect_ignore = ["typing/api.py"]  # for type checkers, never run

# The normal run is reproducible: the examples depend on the test alone, so a red run stays red.
# No deadline, since the first call of a test pays for imports and two workers share two cores.
# For the same reason nothing is said of slow examples: the very first one took 48 s on a busy machine.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)

# `pytest --hypothesis-profile=explore` searches on new examples, and keeps what it finds.
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=2000)

settings.load_profile("ci")


@pytest.fixture(scope="session")
def spark():
    """A Spark with two threads, for the whole run: a process has but one, and nobody stops it."""
    with servers.spark_session() as session:
        yield session
