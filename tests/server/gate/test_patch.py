"""The patch format of ``apply_patch``."""

from __future__ import annotations

import pytest

from callground_server.gate.hooks.patch import parse_patch
from callground_server.gate.wire import RequestError

OLD = "import os\n\ndef f():\n    a = 1\n    return a\n\ndef g():\n    a = 1\n    return a\n"


def applied(body, old=OLD):
    (part,) = parse_patch(f"*** Begin Patch\n{body}\n*** End Patch\n")
    return part.applied(old)


CASES = {
    "add": ("*** Add File: a.py\n+x = 1\n+y = 2", None, "x = 1\ny = 2\n"),
    "delete": ("*** Delete File: a.py", OLD, None),
    "first of two": (
        "*** Update File: a.py\n@@\n     a = 1\n-    return a\n+    return b",
        OLD,
        OLD.replace("return a", "return b", 1),
    ),
    "by its context": (
        "*** Update File: a.py\n@@ def g():\n     a = 1\n-    return a\n+    return b",
        OLD,
        OLD[::-1].replace("return a"[::-1], "return b"[::-1], 1)[::-1],
    ),
    "two hunks": (
        "*** Update File: a.py\n@@\n-import os\n+import sys\n@@\n def g():\n-    a = 1\n+    a = 2",
        OLD,
        OLD.replace("os", "sys").replace("def g():\n    a = 1", "def g():\n    a = 2"),
    ),
    "no header": ("*** Update File: a.py\n import os\n+import sys", OLD, OLD.replace("os\n", "os\nimport sys\n", 1)),
    "at the end": ("*** Update File: a.py\n@@\n+z = 1", "x = 1\n", "x = 1\nz = 1\n"),
    "spaces at line ends": ("*** Update File: a.py\n@@\n-x = 1\n+x = 2", "x = 1  \n", "x = 2\n"),
}


@pytest.mark.parametrize(("body", "old", "new"), CASES.values(), ids=CASES)
def test_applied(body, old, new):
    assert applied(body, old) == new


def test_several_files_and_moves():
    parts = parse_patch(
        "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** Delete File: c.py\n*** End Patch"
    )
    assert [(part.path, part.kind, part.moved_to) for part in parts] == [
        ("a.py", "update", "b.py"),
        ("c.py", "delete", ""),
    ]


@pytest.mark.parametrize("body", ["*** Update File: a.py\n@@\n-nowhere\n+x", "*** Update File: a.py\n@@\n nowhere"])
def test_hunks_that_do_not_fit(body):
    with pytest.raises(RequestError):
        applied(body)


def test_no_patch():
    with pytest.raises(RequestError):
        parse_patch("diff --git a b")
    with pytest.raises(RequestError):
        applied("*** Update File: a.py\n@@\n-x\n+y", None)
