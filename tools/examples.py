"""Run the examples of the documentation, and compare what they print with what the pages show.

python -m tools.examples                       # run all pages, fail if one shows something else
python -m tools.examples docs/tutorial.md      # run one page
python -m tools.examples --write docs/a.md     # write what the examples print into the page

All examples of a page are one session, in a new folder with ``scores.csv`` and ``cards.csv`` in it:

- ``python`` blocks run; where they are a session (``>>>``), Python must answer what the page shows;
  otherwise a value in a comment after an expression must be its value, and a block without a language
  right after it must be what was printed;
- ``console`` blocks run their ``$`` lines, 80 columns wide, and must print what the page shows; a command
  without output in the page must only succeed;
- blocks with ``exec=`` run when the site is built, and blocks in other languages do not run.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import tokenize
import warnings
from pathlib import Path
from typing import Any

from cutpoints.exceptions import DataWarning

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(
    r"^```(python|pycon|console)\n(.*?)^```$(?:(\n\n```\n)(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
VALUE = re.compile(r"[-\d.\[({'\"]|True$|False$|None$|Confusion|Interval|array")


def pages() -> list[Path]:
    """Return the pages that have examples."""
    return [page for page in sorted(DOCS.rglob("*.md")) if BLOCK.search(page.read_text(encoding="utf-8"))]


class Session(doctest.DocTestRunner):
    """One page's examples: names live from block to block, and so do files."""

    def __init__(self, page: Path) -> None:
        super().__init__(verbose=False, optionflags=FLAGS)
        self.page = page
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.wrong: list[str] = []

    def run_page(self) -> str:
        """Run all blocks; return the page with what they really print."""
        text = self.page.read_text(encoding="utf-8")
        with folder():
            return BLOCK.sub(self._block, text)

    def _block(self, found: re.Match[str]) -> str:
        kind, block, between, shown = found.groups()
        with contextlib.redirect_stdout(io.StringIO()) as stdout:
            text = f"```{kind}\n{(self._console if kind == 'console' else self._python)(block)}```"
        if not between:
            return text
        if shown.split() != stdout.getvalue().split():
            self._differs(block, shown, stdout.getvalue())
        return f"{text}{between}{stdout.getvalue()}```"

    def _python(self, block: str) -> str:
        return self._session(block) if ">>> " in block else self._script(block)

    def _session(self, block: str) -> str:
        test = doctest.DocTestParser().get_doctest(block, {}, str(self.page), None, 0)
        test.globs, self.printed = self.names, []
        self.run(test, clear_globs=False, out=lambda _: None)
        lines = block.splitlines(keepends=True)
        for example, got in reversed(self.printed):
            start = example.lineno + example.source.count("\n")
            lines[start : start + example.want.count("\n")] = [got]
        return "".join(lines)

    def report_failure(self, out: object, test: object, example: Any, got: str) -> None:
        """Remember what was printed instead."""
        self._differs(example.source, example.want, got)
        self.printed.append((example, got.replace("\n\n", "\n<BLANKLINE>\n")))

    def report_unexpected_exception(self, out: object, test: object, example: Any, exc_info: Any) -> None:
        """Remember the error."""
        self._differs(example.source, example.want, f"{exc_info[0].__name__}: {exc_info[1]}\n")

    def _script(self, block: str) -> str:
        comments = {
            token.start[0]: token.string.removeprefix("# ")
            for token in tokenize.generate_tokens(io.StringIO(block).readline)
            if token.type == tokenize.COMMENT
        }
        for node in ast.parse(block).body:
            try:
                if not isinstance(node, ast.Expr):
                    exec(compile(ast.Module([node], []), str(self.page), "exec"), self.names)  # noqa: S102
                    continue
                value = repr(eval(compile(ast.Expression(node.value), "", "eval"), self.names))  # noqa: S307
            except Exception as error:  # noqa: BLE001 - whatever an example raises is reported
                self._differs(ast.unparse(node), "", f"{type(error).__name__}: {error}\n")
                continue
            comment = comments.get(node.end_lineno or 0, "")
            told = comment.split(": ")[0] if not comment.startswith("{") else comment
            if VALUE.match(told) and not doctest.OutputChecker().check_output(told, value, FLAGS):
                self._differs(ast.unparse(node), told, value)
        return block

    def _console(self, block: str) -> str:
        printed = []
        for command, shown in re.findall(
            r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE
        ):
            code, output = run(command)
            if shown and shown.split() != output.split():
                self._differs(command, shown, output)
            if not shown and code:
                self._differs(command, "", output)
            printed.append(f"$ {command}{output if shown else ''}")
        return "".join(printed)

    def _differs(self, source: str, want: str, got: str) -> None:
        self.wrong.append(
            f"{self.page.relative_to(ROOT)}: {source.strip()}\n--- shown\n{want}--- is\n{got}\n"
        )


@contextlib.contextmanager
def folder() -> Any:
    """Work in a new folder with the files that the pages read."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            shutil.copy(ROOT / "examples" / "scores.csv", "scores.csv")
            Path("examples").symlink_to(ROOT / "examples")
            runpy.run_path("examples/cards.py")["write"](Path("cards.csv"))
            yield
        finally:
            os.chdir(before)


def run(command: str) -> tuple[int, str]:
    """Run a command of the shell: our own in this process, since a new one takes a second to start."""
    plain = command.replace("\\\n", " ").strip()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # as where it is installed
    if plain.startswith("cutpoints ") and not re.search(r"[|>;&]", re.sub(r"'[^']*'|\"[^\"]*\"", "", plain)):
        import shlex

        from click.testing import CliRunner

        from cutpoints.cli import main

        result = CliRunner().invoke(main, shlex.split(plain)[1:], env={"COLUMNS": "80", "PATH": path})
        return result.exit_code, result.output
    done = subprocess.run(  # noqa: S602 - our own pages
        command,
        shell=True,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": path, "COLUMNS": "80", "PYTHONPATH": str(ROOT / "src")},
    )
    return done.returncode, done.stdout


def wrong(page: Path, *, write: bool = False) -> list[str]:
    """Return what a page shows and its examples do not print; write it into the page if asked."""
    os.environ.setdefault("MPLBACKEND", "agg")
    session = Session(page)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # hundreds, where an example simulates small samples
        text = session.run_page()
    if write:
        page.write_text(text, encoding="utf-8")
    return session.wrong


if __name__ == "__main__":
    asked = [Path(name).resolve() for name in sys.argv[1:] if name != "--write"] or pages()
    reports = [report for page in asked for report in wrong(page, write="--write" in sys.argv)]
    print(*reports, sep="\n")  # noqa: T201
    sys.exit(1 if reports else 0)
