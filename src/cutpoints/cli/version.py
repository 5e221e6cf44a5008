"""`cutpoints version`: what is installed, for reports of bugs."""

from __future__ import annotations

import platform

import click

from cutpoints._version import __version__
from cutpoints.cli._options import examples, json_option
from cutpoints.cli._output import print_json

_PACKAGES = ("numpy", "duckdb", "scikit-learn")


@click.command(epilog=examples("cutpoints version --json"))
@json_option
def version(*, as_json: bool) -> None:
    """Print the versions of cutpoints and of the packages that it uses."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    versions = {"cutpoints": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version_of(package)
        except PackageNotFoundError:
            continue
    if as_json:
        print_json(versions)
        return
    (_, ours), *others = versions.items()
    click.echo(f"cutpoints {ours} ({', '.join(' '.join(pair) for pair in others)})")
