"""A log-log plot of time against rows, as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

# Colours that stay apart for most eyes (Okabe and Ito).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
WIDTH, HEIGHT = 760, 480
LEFT, RIGHT, TOP, BOTTOM = 70, 160, 50, 60
LABEL_GAP = 34


@dataclass(frozen=True)
class Series:
    title: str
    points: list[tuple[int, float]]
    # t = factor · n^exponent
    exponent: float
    factor: float


class Axis:
    """Logarithms mapped to a length."""

    def __init__(self, least: float, most: float, start: float, end: float) -> None:
        self.low, self.high = math.log10(least), math.log10(most)
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)


def growth_svg(lines: list[Series], title: str) -> str:
    """The points of each series, its fitted line dashed, and its exponent at the end of it."""
    rows = sorted({n for line in lines for n, _ in line.points})
    seconds = [t for line in lines for _, t in line.points]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    high = max(high, low + 1)
    x = Axis(rows[0] / 1.15, rows[-1] * 1.15, LEFT, WIDTH - RIGHT)
    y = Axis(10.0**low, 10.0**high, HEIGHT - BOTTOM, TOP)
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 28, title, size=16),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, "rows n", anchor="middle"),
        f'<text transform="translate(20 {(TOP + HEIGHT - BOTTOM) / 2:.1f}) rotate(-90)" text-anchor="middle">'
        "seconds of fit</text>",
    ]
    for power in range(low, high + 1):
        height = y(10.0**power)
        svg.append(stroke(LEFT, height, WIDTH - RIGHT, height, "#dddddd"))
        svg.append(text(LEFT - 8, height + 4, f"{10.0**power:g}", anchor="end"))
    for n in rows:
        svg.append(stroke(x(n), TOP, x(n), HEIGHT - BOTTOM, "#eeeeee"))
    # Ticks that would overlap lose their label.
    last = -math.inf
    for n in rows:
        if x(n) - last >= LABEL_GAP:
            svg.append(text(x(n), HEIGHT - BOTTOM + 20, f"{n / 1000:g}k" if n >= 1000 else str(n), anchor="middle"))
            last = x(n)
    svg.append(
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - RIGHT - LEFT}" height="{HEIGHT - BOTTOM - TOP}" '
        'fill="none" stroke="#666666"/>'
    )

    for place, (line, height) in enumerate(zip(lines, label_heights([y(line.points[-1][1]) for line in lines]))):
        colour = COLOURS[place % len(COLOURS)]
        ends = [line.points[0][0], line.points[-1][0]]
        fitted = [min(max(y(line.factor * n**line.exponent), TOP), HEIGHT - BOTTOM) for n in ends]
        svg.append(stroke(x(ends[0]), fitted[0], x(ends[1]), fitted[1], colour, dashed=True))
        path = " ".join(f"{x(n):.1f},{y(t):.1f}" for n, t in line.points)
        svg.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        svg += [f'<circle cx="{x(n):.1f}" cy="{y(t):.1f}" r="3.5" fill="{colour}"/>' for n, t in line.points]
        svg.append(text(WIDTH - RIGHT + 12, height, line.title, colour=colour))
        svg.append(text(WIDTH - RIGHT + 12, height + 15, f"t ~ n^{line.exponent:.2f}", colour=colour, size=12))
    return "\n".join([*svg, "</svg>"]) + "\n"


def label_heights(wanted: list[float]) -> list[float]:
    """Places for the labels at the end of the lines, near where they belong and apart from each other."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    places = [0.0] * len(wanted)
    above = -math.inf
    for index in order:
        above = max(wanted[index] + 4, above + LABEL_GAP)
        places[index] = above
    # The last one must stay on the page; the others make room.
    over = max(0.0, above - (HEIGHT - BOTTOM - 10))
    return [place - over for place in places]


def text(x: float, y: float, content: str, anchor: str = "start", colour: str = "#222222", size: int = 13) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}" font-size="{size}">{escape(content)}</text>'


def stroke(x1: float, y1: float, x2: float, y2: float, colour: str, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashes}/>'
