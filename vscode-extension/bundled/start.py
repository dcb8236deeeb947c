"""Starts the server that lies in this extension: ``python -I start.py lsp``.

``-I`` keeps the workspace and ``PYTHONPATH`` off the path.  What the interpreter has installed comes last: only
what cannot be bundled (compiled packages, which are optional) is taken from there.
"""

import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036  whoever starts this may be older
    sys.exit("callground needs Python 3.10 or newer, this is " + sys.version.split()[0])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "libs"))

from callground_server.cli import main

sys.exit(main(sys.argv[1:]))
