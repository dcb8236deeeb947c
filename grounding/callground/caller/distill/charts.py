"""What the evidence shows, drawn: a reliability diagram and a risk-coverage curve, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from callground.caller.calibration import upper_bound
from callground.caller.distill.evidence import Evidence

_SIZE = 320
_LEFT, _TOP = 48, 34
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600}.g{stroke:#ddd}.a{stroke:#888;fill:none}"
    ".l{stroke:#2563eb;stroke-width:2;fill:none}.p{fill:#2563eb}.r{stroke:#dc2626;fill:none;stroke-dasharray:4 3}"
)


def reliability(evidence: Evidence, bins: int = 10) -> str:
    """Said against seen: in each tenth of the stated probability, how many of the calls were right.

    A dot's area grows with the number of rows; the bar is the exact 95 % interval.  On the diagonal all is as stated.
    """
    parts = [_line((0.0, 0.0), (1.0, 1.0), "r")]
    for k in range(bins):
        rows = [
            (p, each.right)
            for each in evidence.judged
            if each.calls and min(int((p := evidence.gate.probability(each.score)) * bins), bins - 1) == k
        ]
        if not rows:
            continue
        said = sum(p for p, _ in rows) / len(rows)
        good = sum(right for _, right in rows)
        low = 0.0 if good == 0 else 1.0 - upper_bound(len(rows) - good, len(rows), 0.025)
        parts.append(_line((said, low), (said, upper_bound(good, len(rows), 0.025)), "a"))
        x, y = _at(said, good / len(rows))
        parts.append(
            f'<circle class="p" cx="{x:.1f}" cy="{y:.1f}" r="{2 + len(rows) ** 0.5 / 3:.1f}">'
            f"<title>{good} of {len(rows)} right</title></circle>"
        )
    return _frame(
        "Reliability: calls on rows that were not trained on", "stated probability", "share right", parts, 1.0
    )


def risk_coverage(evidence: Evidence) -> str:
    """The share of wrong calls among those emitted, for each share of the requests that get a call.

    The dashed line is `alpha`; the dot is where the threshold lies.
    """
    calls = sorted((each for each in evidence.judged if each.calls), key=lambda each: -each.score)
    total = max(len(evidence.judged), 1)
    points, wrong, mark = [], 0, None
    for count, each in enumerate(calls, 1):
        wrong += not each.right
        points.append((count / total, wrong / count))
        if each.score >= evidence.thresholds.call:
            mark = points[-1]
    top = max(2.0 * evidence.alpha, max((risk for _, risk in points), default=0.0), 0.05)
    parts = [_line((0.0, evidence.alpha / top), (1.0, evidence.alpha / top), "r")]
    if points:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_at(cover, risk / top) for cover, risk in points))
        parts.append(f'<polyline class="l" points="{path}"/>')
    if mark is not None:
        x, y = _at(mark[0], mark[1] / top)
        parts.append(
            f'<circle class="p" cx="{x:.1f}" cy="{y:.1f}" r="5">'
            f"<title>threshold: {mark[0]:.1%} get a call, {mark[1]:.1%} of these wrong</title></circle>"
        )
    return _frame("Risk and coverage", "share of the requests with a call", "share of these wrong", parts, top)


def _at(x: float, y: float) -> tuple[float, float]:
    return _LEFT + x * _SIZE, _TOP + (1.0 - y) * _SIZE


def _line(one: tuple[float, float], other: tuple[float, float], kind: str) -> str:
    (x1, y1), (x2, y2) = _at(*one), _at(*other)
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _frame(title: str, across: str, up: str, parts: Sequence[str], top: float) -> str:
    grid, labels = [], []
    for k in range(6):
        grid += [_line((k / 5, 0.0), (k / 5, 1.0), "g"), _line((0.0, k / 5), (1.0, k / 5), "g")]
        x, _ = _at(k / 5, 0.0)
        _, y = _at(0.0, k / 5)
        labels.append(f'<text x="{x:.1f}" y="{_TOP + _SIZE + 16}" text-anchor="middle">{k / 5:.0%}</text>')
        labels.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{top * k / 5:.{0 if top > 0.3 else 1}%}</text>'
        )
    middle = _LEFT + _SIZE / 2
    labels.append(f'<text class="t" x="{middle}" y="20" text-anchor="middle">{escape(title)}</text>')
    labels.append(f'<text x="{middle}" y="{_TOP + _SIZE + 34}" text-anchor="middle">{escape(across)}</text>')
    labels.append(
        f'<text x="12" y="{_TOP + _SIZE / 2}" text-anchor="middle" '
        f'transform="rotate(-90 12 {_TOP + _SIZE / 2})">{escape(up)}</text>'
    )
    width, height = _LEFT + _SIZE + 20, _TOP + _SIZE + 44
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join([*grid, *parts, *labels])}</svg>\n'
    )
