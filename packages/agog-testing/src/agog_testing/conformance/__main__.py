"""The command ``python -m agog_testing.conformance``."""

import sys

from agog_testing.conformance.command import main

if __name__ == "__main__":
    sys.exit(main())
