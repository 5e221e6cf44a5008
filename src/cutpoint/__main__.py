"""`python -m cutpoint` is the command line."""

from cutpoint.cli import main

if __name__ == "__main__":
    main(prog_name="cutpoint")
