"""Bytes to text as the interpreter does it; what cannot be read is a value."""

from __future__ import annotations

import pytest

from callground.source.decode import decode


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        (b"x = 1\n", "x = 1\n", "utf-8"),
        ("é".encode(), "é", "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n", "utf-8"),
        (b"\xef\xbb\xbf# coding: utf-8\n", "# coding: utf-8\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\n'\xe9'", "# -*- coding: latin-1 -*-\n'é'", "iso8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'", None, "cp1252"),
        (b"\n# coding: latin-1\n'\xe9'", "\n# coding: latin-1\n'é'", "iso8859-1"),
        (b"\r# coding: latin-1\r'\xe9'", "\r# coding: latin-1\r'é'", "iso8859-1"),
        # A declaration below the second line, or below code, declares nothing.
        ("\n\n# coding: latin-1\né".encode(), "\n\n# coding: latin-1\né", "utf-8"),
        ("x = 1\n# coding: latin-1\né".encode(), "x = 1\n# coding: latin-1\né", "utf-8"),
        (b"a\r\nb\rc\x0cd", "a\r\nb\rc\x0cd", "utf-8"),
    ],
)
def test_readable(data: bytes, text: str | None, encoding: str) -> None:
    decoded = decode(data)
    assert decoded.error is None
    assert decoded.encoding == encoding
    assert decoded.text == (data.decode("cp1252") if text is None else text)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"x = 1\ny = '\xff'\n", "not-text", "not utf-8 on line 2"),
        (b"x = 1\ry = '\xff'\n", "not-text", "not utf-8 on line 2"),
        (b"# coding: ascii\n'\xe9'", "not-text", "not ascii on line 2"),
        (b"# coding: no-such-codec\n", "not-text", "no-such-codec"),
        (b"# coding: rot13\nk = 1", "not-text", "unknown encoding rot"),
        (b"# coding: hex\n1234", "not-text", "hex"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "not-text", "byte order mark"),
        (b"x = '\0'", "not-text", "null"),
        ("x = 1".encode("utf-16"), "not-text", ""),
        (b"#" * 101, "too-large", "101 bytes"),
    ],
)
def test_unreadable(data: bytes, error: str, message: str) -> None:
    decoded = decode(data, largest=100)
    assert (decoded.text, decoded.error) == ("", error)
    assert message in decoded.message


def test_twenty_megabytes_are_too_large() -> None:
    assert decode(b"x = 1\n" * 3_500_000).error == "too-large"
