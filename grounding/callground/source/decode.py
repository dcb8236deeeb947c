"""Bytes of a file to text, as the interpreter reads source."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

LARGEST_FILE = 5_000_000
"""Most bytes of a file that is read as source."""

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:[#\r\n]|$)")


class Decoded(NamedTuple):
    """The text of a file, or why there is none."""

    text: str
    """Without a byte order mark; line ends as they stand in the file."""
    encoding: str
    error: str | None = None
    """``not-text`` or ``too-large``; then `text` is empty."""
    message: str = ""
    """For a person: what is wrong."""


def decode(data: bytes, largest: int = LARGEST_FILE) -> Decoded:
    """Decode by the byte order mark or the PEP 263 declaration, else as UTF-8.  Never raises."""
    if len(data) > largest:
        return Decoded("", "utf-8", "too-large", f"the file has {len(data):,} bytes, more than {largest:,}")
    encoding = "utf-8"
    declared = _declared(data)
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
        if declared is not None and declared not in ("utf-8", "utf-8-sig"):
            message = f"the file has a UTF-8 byte order mark but declares {declared}"
            return Decoded("", encoding, "not-text", message)
    elif declared is not None:
        encoding = declared
    try:
        text = data.decode(encoding)
    except LookupError:
        return Decoded("", encoding, "not-text", f"unknown encoding {encoding}")
    except UnicodeError as error:
        where = getattr(error, "start", None)
        line = f" on line {_line(data, where)}" if isinstance(where, int) else ""
        return Decoded("", encoding, "not-text", f"the file is not {encoding}{line}")
    except Exception as error:  # noqa: BLE001  Some codecs fail in their own ways (zlib, unicode_escape).
        return Decoded("", encoding, "not-text", f"the file cannot be decoded as {encoding}: {error}")
    if not isinstance(text, str):
        return Decoded("", encoding, "not-text", f"{encoding} is not a text encoding")
    if "\0" in text:
        return Decoded("", encoding, "not-text", "the file contains a null character")
    return Decoded(text, encoding)


def _declared(data: bytes) -> str | None:
    """The encoding that a comment on the first two lines declares, by its usual name."""
    head = data[3:1024] if data.startswith(codecs.BOM_UTF8) else data[:1024]
    for line in re.split(rb"\r\n?|\n", head, maxsplit=2)[:2]:
        match = _COOKIE.match(line)
        if match:
            name = match.group(1).decode("ascii", "replace")
            try:
                return codecs.lookup(name).name
            except LookupError:
                return name
        if not _BLANK.match(line):
            return None
    return None


def _line(data: bytes, offset: int) -> int:
    head = data[:offset]
    return head.count(b"\n") + head.count(b"\r") - head.count(b"\r\n") + 1
