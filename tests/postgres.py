"""A PostgreSQL server of our own, in a folder of its own, for as long as a block lasts."""

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"


def binaries():
    """Return the folder of the server's programs, or None where there are none."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def why_not():
    """Say what is missing for a server, or None if nothing is."""
    if os.name != "posix":
        return "the PostgreSQL server is started as on POSIX"
    if binaries() is None:
        return "no PostgreSQL server is installed (initdb)"
    if os.geteuid() == 0 and not _unprivileged():
        return "the PostgreSQL server does not run as root, and there is no user to run it as"
    return None


def _unprivileged():
    for name in (USER, "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return None


@contextmanager
def server():
    """Yield a connection string: a Unix socket in a temporary folder, no network, gone at the end."""
    bin_ = binaries()
    with tempfile.TemporaryDirectory(prefix="cp-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        user = None
        if os.geteuid() == 0:
            user = _unprivileged()
            shutil.chown(folder, user)
        options = {"user": user, "cwd": name, "stdout": subprocess.DEVNULL}
        kind = ["-U", "test", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([bin_ / "initdb", "-D", folder / "data", *kind], check=True, **options)
        settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        control = [bin_ / "pg_ctl", "-D", folder / "data", "-w"]
        subprocess.run([*control, "-l", folder / "log", "-o", settings, "start"], check=True, **options)
        try:
            yield f"host={folder} user=test dbname=postgres"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, **options)
