"""A real PostgreSQL for the SQL of policies."""

import pytest

from engines import servers


@pytest.fixture(scope="session")
def database():
    """A connection to a PostgreSQL server of our own."""
    psycopg = pytest.importorskip("psycopg", reason="NOT TESTED ON POSTGRESQL: psycopg is not installed")
    with (
        servers.postgres_server() as folder,
        psycopg.connect(
            host=str(folder), user="postgres", dbname="postgres", prepare_threshold=None
        ) as connection,
    ):
        yield connection
