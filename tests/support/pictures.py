"""Terminal output as an SVG picture, for the README."""

from __future__ import annotations

import re
from html import escape

from callground_server.cli.columns import width

_COLOURS = {
    "1": ("font-weight", "bold"),
    "2": ("fill", "#8b949e"),
    "31": ("fill", "#ff7b72"),
    "32": ("fill", "#7ee787"),
    "33": ("fill", "#e3b341"),
    "34": ("fill", "#79c0ff"),
    "36": ("fill", "#76e3ea"),
}
_ADVANCE, _LINE, _MARGIN = 8.43, 20, 18


def picture(text: str, title: str) -> str:
    """An SVG of `text`, which may hold colour escapes; one `<text>` for each line."""
    lines = text.rstrip("\n").split("\n")
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    wide = round(max(map(width, plain)) * _ADVANCE + 2 * _MARGIN)
    high = len(lines) * _LINE + 2 * _MARGIN
    rows = []
    for number, line in enumerate(lines):
        if line.strip():
            y = _MARGIN + _LINE * (number + 1) - 6
            rows.append(f'<text x="{_MARGIN}" y="{y}" xml:space="preserve">{_spans(line)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="14">\n<title>{escape(title)}</title>\n'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n<g fill="#e6edf3">\n'
        + "\n".join(rows)
        + "\n</g>\n</svg>\n"
    )


def _spans(line: str) -> str:
    out = []
    codes = ""
    for part in re.split(r"(\x1b\[[\d;]*m)", line):
        escape_code = re.fullmatch(r"\x1b\[([\d;]*)m", part)
        if escape_code is not None:
            codes = escape_code[1]
        elif part:
            marks = " ".join(f'{k}="{v}"' for k, v in (_COLOURS[c] for c in codes.split(";") if c in _COLOURS))
            out.append(f"<tspan {marks}>{escape(part)}</tspan>" if marks else escape(part))
    return "".join(out)
