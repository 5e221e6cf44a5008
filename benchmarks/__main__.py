"""`python -m benchmarks`: the core benchmark at sizes that take a few minutes."""

from benchmarks.core import main

main()
