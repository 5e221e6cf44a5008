"""Commands that are killed, have no room, or write the same file: a whole file or none, and nothing left.

FAULT_RUNS is the number of kills of each command by each signal.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

import cutpoints as cp
from faults.commands import SRC, Bench, whole

pytestmark = pytest.mark.slow

RUNS = int(os.environ.get("FAULT_RUNS", "20"))
COMMANDS = [
    "find",
    "find, standard input",
    "apply csv",
    "apply parquet",
    "apply, standard input",
    "report",
    "check --write",
]
SIGNALS = ["SIGKILL", "SIGTERM", "SIGHUP"]
_SAVES = """
import sys
import cutpoints as cp
policies = [cp.Policy(t / 1000, score="p", name="n" * t) for t in range(1, 1000)]
print("ready", flush=True)
while True:
    for policy in policies:
        policy.save(sys.argv[1])
"""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_leaves_no_half_file(tmp_path, record, name, number):
    """The output is whole or not there; what SIGKILL leaves is hidden, and gone after the next run."""
    bench, kept = Bench(tmp_path), record(f"{number} during {name}")
    words, output, reads = bench.command(name)
    begun = time.monotonic()
    running = bench.start(words, reads=reads)
    _, said = running.communicate()
    assert output.exists(), said
    takes = time.monotonic() - begun
    bench.clear()
    for _ in range(RUNS):
        running = bench.start(words, reads=reads)
        time.sleep(random.uniform(0.2, 1.05) * takes)  # noqa: S311
        running.send_signal(getattr(signal, number))
        _, said = running.communicate()
        faults = [f"half a file: {output}"] if output.exists() and not whole(output) else []
        faults += [
            f"in the way of readers: {one}"
            for one in bench.out.iterdir()
            if one != output and not one.name.startswith(".")
        ]
        if number == "SIGKILL":
            output.unlink(missing_ok=True)
        else:
            faults += bench.left(output)
            faults += ["a traceback"] if b"Traceback" in said and b"cutpoints/cli" in said else []
            bench.clear()
        kept.run(faults)
    bench.start(words, reads=reads).communicate()
    kept.run(bench.left(output))


@pytest.mark.parametrize("number", SIGNALS)
def test_a_policy_that_is_being_saved_is_always_whole(tmp_path, record, number):
    """A process saves a policy over and over, is read meanwhile, and is killed at any moment."""
    path, kept = tmp_path / "policy.json", record(f"{number} during Policy.save")
    for _ in range(2 * RUNS):
        running = subprocess.Popen(
            [sys.executable, "-c", _SAVES, str(path)],
            env={**os.environ, "PYTHONPATH": str(SRC)},
            stdout=subprocess.PIPE,
        )
        running.stdout.readline()
        until = time.monotonic() + random.uniform(0, 0.3)  # noqa: S311
        while time.monotonic() < until:
            cp.Policy.load(path) if path.exists() else time.sleep(0.001)
        running.send_signal(getattr(signal, number))
        running.wait()
        running.stdout.close()
        faults = [] if not path.exists() or whole(path) else ["half a policy"]
        faults += [
            f"in the way: {one.name}"
            for one in tmp_path.iterdir()
            if one != path and not one.name.startswith(".")
        ]
        kept.run(faults)


def _ended_well(running, output, said):
    """What went wrong where there was too little room: it must say so, and leave the older file."""
    faults = [said.decode()[-500:]] if b"Traceback" in said else []
    if running.returncode == 1 and output.read_bytes() != b"old":
        faults.append("the older file is gone")
    if running.returncode != 1 and (output.read_bytes() == b"old" or not whole(output)):
        faults.append(f"exit {running.returncode}")
    return faults


@pytest.mark.parametrize("name", COMMANDS)
def test_files_that_may_not_grow(tmp_path, record, name):
    """A write that fails says so, and the output is what it was."""
    bench, kept = Bench(tmp_path), record("limit on the size of files")
    words, output, reads = bench.command(name)
    for limit in (0, 100, 10_000):
        output.write_bytes(b"old")
        small = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
        running = bench.start(words, reads=reads, preexec_fn=small)
        _, said = running.communicate()
        faults = _ended_well(running, output, said) + bench.left(output)
        bench.clear()
        kept.run(faults)


@pytest.fixture
def small_disk(tmp_path):
    """Return a function that puts a small file system in the place of a folder."""
    mounted = []

    def mount(folder, size):
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        if os.geteuid() != 0 or shutil.which("mount") is None:
            return False
        done = subprocess.run(command, check=False, capture_output=True)
        if done.returncode == 0:
            mounted.append(folder)
        return done.returncode == 0

    yield mount
    for folder in mounted:
        subprocess.run([shutil.which("umount"), str(folder)], check=True)


@pytest.mark.parametrize("place", ["out", "spool"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_is_full(tmp_path, record, small_disk, name, place):
    """A real file system of a few pages, for the output or for temporary files."""
    bench, kept = (
        Bench(tmp_path),
        record(f"full disk for {'the output' if place == 'out' else 'temporary files'}"),
    )
    words, output, reads = bench.command(name)
    folder = bench.out if place == "out" else bench.spool
    if not small_disk(folder, "16k"):
        kept.skip("only root can mount a small file system")
    for free in (0, 4096, 8192):
        output.write_bytes(b"old")
        full = folder / ".full"
        with full.open("wb") as file:
            try:
                while os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize > free:
                    file.write(b"x" * 4096)
                    file.flush()
            except OSError:
                pass
        running = bench.start(words, reads=reads)
        _, said = running.communicate()
        full.unlink()
        faults = _ended_well(running, output, said) + bench.left(output)
        bench.clear()
        kept.run(faults)


@pytest.mark.parametrize("name", COMMANDS)
def test_two_writers_of_one_file(tmp_path, record, name):
    """The last one wins, and its file is whole at every moment."""
    bench, kept = Bench(tmp_path), record("two writers of one file")
    words, output, reads = bench.command(name)
    for _ in range(3):
        running = [bench.start(words, reads=reads) for _ in range(2)]
        faults = []
        while any(one.poll() is None for one in running):
            faults += [] if not output.exists() or whole(output) else ["half a file"]
            time.sleep(0.02)
        said = [one.communicate()[1] for one in running]
        codes = {one.returncode for one in running}
        faults += [] if codes <= {0} and whole(output) else [f"exit {codes}: {said}"]
        faults += bench.left(output)
        bench.clear()
        kept.run(faults)
