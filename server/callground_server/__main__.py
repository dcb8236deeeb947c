"""``python -I -m callground_server`` is the same as ``callground``."""

from __future__ import annotations

import sys

from callground_server.cli import main

if __name__ == "__main__":
    sys.exit(main())
