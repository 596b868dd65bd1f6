"""`python -m autograder`: the command line, where no script was installed."""

import sys

from autograder.cli import main

if __name__ == "__main__":
    sys.exit(main())
