"""`python -m ptxkit` is the command line."""

from ptxkit.cli import main

if __name__ == "__main__":
    main()
