"""Gallery: pictures that the examples draw, and the page that shows them.

``python docs/gallery.py FOLDER`` runs the examples and writes both; the site's build does so too.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import agog as tf

EXAMPLES = Path(__file__).parents[1] / "examples"


class Picture(NamedTuple):
    """A picture: the example that draws it, the arguments that it is run with, and what it shows."""

    example: str
    arguments: tuple[str, ...]
    title: str
    text: str


PICTURES = (
    Picture(
        "gan",
        ("--steps", "3000"),
        "Two networks against each other",
        "One network draws points from noise, the other tells them from points on a ring. In the end, nearly all "
        "points of the first are near the ring:",
    ),
    Picture(
        "huber",
        ("--epochs", "30"),
        "A line that forgives outliers",
        "Python's `if` inside of a loss, an update after each example. The points lie around y = 85 - 6x, but one in "
        "ten is 30 lower. The line falls by 6 all the same; that of least squares would fall by 7:",
    ),
    Picture(
        "fit",
        ("--epochs", "12"),
        "Digits",
        "`compile` and `fit` with callbacks that slow down and stop: the losses, which fall, and digits that the "
        "model never saw, with what it takes them for. At least nine of these ten are right:",
    ),
)


def write(folder: Path) -> None:
    """Run the examples that draw, and write their pictures and the page."""
    folder.mkdir(exist_ok=True)
    parts = ["# Gallery", "", "Pictures that the programs in `examples/` draw, with `--picture FILE`.", ""]
    with ThreadPoolExecutor() as at_once:
        list(at_once.map(lambda picture: draw(picture, folder), PICTURES))
    for example, arguments, title, text in PICTURES:
        image = folder / f"{example}.png"
        called = " ".join([f"python examples/{example}.py", *arguments, "--function", "--picture", f"{example}.png"])
        parts += [f"## {title}", "", text, "", f"```\n{called}\n```", "", f"![{title}]({image.name})", ""]
    (folder / "tape.svg").write_text(tape(), encoding="utf-8")
    parts += ["## A tape", "", "What a tape keeps of `tf.reduce_sum(tf.tanh(x @ w))`, as notebooks show it.", ""]
    parts += ["![A tape](tape.svg)", ""]
    (folder / "index.md").write_text("\n".join(parts), encoding="utf-8")


def draw(picture: Picture, folder: Path) -> None:
    """Run the example that draws a picture, in a process of its own."""
    program, image = str(EXAMPLES / f"{picture.example}.py"), str(folder / f"{picture.example}.png")
    command = [sys.executable, program, *picture.arguments, "--function", "--picture", image]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def tape() -> str:
    """The picture of a tape."""
    x, w = tf.constant([[1.0, 2.0]]), tf.Variable([[1.0], [2.0]], name="w")
    with tf.GradientTape() as recorded:
        recorded.watch(x)
        tf.reduce_sum(tf.tanh(x @ w))
    return recorded._repr_svg_() or ""


if __name__ == "__main__":
    write(Path(sys.argv[1]))
