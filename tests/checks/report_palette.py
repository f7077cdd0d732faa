"""The report's colours: text is readable on them, lines and markers contrast with the page, and people with any kind of colour blindness
can distinguish series and steps of the heat map.

Contrast: WCAG 2.1. Colour blindness: Machado, Oliveira, Fernandes 2009, severity 1.0. Differences: CIE76 in CIELAB (2.3 is just
noticeable)."""
import itertools
import re
import sys

KINDS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(color):
    parts = (int(color[i:i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)


def seen(color, kind):
    rgb = linear(color)
    return tuple(min(max(sum(m * c for m, c in zip(row, rgb)), 0), 1) for row in KINDS[kind])


def luminance(color):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(color)))


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    xyz = (sum(m * c for m, c in zip(row, rgb)) / w for row, w in zip(rows, white))
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(a, b, kind):
    return sum((p - q) ** 2 for p, q in zip(lab(seen(a, kind)), lab(seen(b, kind)))) ** 0.5


bad = 0


def expect(value, least, what):
    global bad
    if value < least:
        print(f"{what}: {value:.1f}, expected at least {least}")
        bad += 1


for theme in ("light", "dark"):
    path = f"src/report/page/style.css, {theme}"
    block = {"light": r":root\{(.*?)\}", "dark": r":root\[data-theme=dark\]\{(.*?)\}"}[theme]
    with open("src/report/page/style.css", encoding="utf-8") as file:
        color = dict(re.findall(r"--([\w-]+):(#[0-9a-f]{6});", re.search(block, file.read(), re.S).group(1)))
    series = [color[f"s{i}"] for i in range(6)]
    steps = [color[f"q{i}"] for i in range(7)]
    for name in ("ink", "muted", "accent", "bad"):
        for page in ("page", "card", "band"):
            expect(contrast(color[name], color[page]), 4.5, f"{path}: --{name} on --{page}")
    for i, c in enumerate(series):
        expect(contrast(c, color["card"]), 3, f"{path}: --s{i} on --card")
    expect(contrast(color["ring"], color["card"]), 3, f"{path}: --ring on --card")
    for i, c in enumerate(steps):
        expect(contrast(color[f"k{i}"], c), 4.5, f"{path}: --k{i} on --q{i}")
    for kind in KINDS:
        for (i, a), (k, b) in itertools.combinations(enumerate(series), 2):
            expect(difference(a, b, kind), 8, f"{path}: --s{i} and --s{k}, {kind}")
        for i in range(6):
            expect(difference(steps[i], steps[i + 1], kind), 5, f"{path}: --q{i} and --q{i + 1}, {kind}")
    ordered = [luminance(c) for c in steps]
    if ordered != sorted(ordered, reverse=theme == "light"):
        print(f"{path}: the steps of the heat map do not get evenly {'darker' if theme == 'light' else 'lighter'}")
        bad += 1
sys.exit(bad > 0)
