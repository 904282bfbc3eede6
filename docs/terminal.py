"""Terminal: the picture of a session in the README.

``python docs/terminal.py`` runs the session below, and writes what it prints to docs/_static/terminal.svg.
"""

from __future__ import annotations

import io
import re
from code import InteractiveInterpreter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURE = Path(__file__).parent / "_static" / "terminal.svg"

# What is typed; a blank line ends a block, as it does for Python.
SESSION = """
import agog as tf
tf.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer, x = tf.keras.optimizers.Adam(0.02), tf.random.uniform([256, 2], -1.0, 1.0)
y = tf.reduce_prod(x, axis=1, keepdims=True)
for step in range(301):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if step % 100 == 0:
        print(f"step {step}: loss {loss:.5f}")

print(model(tf.constant([[0.5, 0.5], [-0.8, 0.5]])))
print(tf.explain("matmul"))
tf.matmul(x, y)
"""


def blocks(session: str) -> list[list[str]]:
    """The lines of each statement: those that are indented belong to the one before."""
    found: list[list[str]] = []
    for line in session.strip().splitlines():
        if line.startswith(" "):
            found[-1].append(line)
        elif line:
            found.append([line])
    return found


def run(session: str, console: Console) -> None:
    """Type a session, and show what Python answers."""
    python = InteractiveInterpreter({"__name__": "__console__"})
    for lines in blocks(session):
        prompts = [">>> ", *["... "] * len(lines[1:])]
        for prompt, line in zip(prompts, lines, strict=True):
            typed = Syntax(line, "python", theme="monokai", background_color="default").highlight(line)
            typed.rstrip()
            console.print(Text(prompt, style="bright_black") + typed, soft_wrap=True)
        answer = io.StringIO()
        with redirect_stdout(answer), redirect_stderr(answer):
            python.runsource("\n".join([*lines, ""]), symbol="single" if len(lines) == 1 else "exec")
        text = answer.getvalue().rstrip()
        if "Traceback" in text:
            text = text.splitlines()[-1]
        if text:
            console.print(Text(text), soft_wrap=False)


def picture(session: str = SESSION) -> str:
    """The session as an SVG, which asks for no font of the network."""
    console = Console(record=True, width=112, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    run(session, console)
    svg = console.export_svg(title="python", theme=MONOKAI, unique_id="terminal")
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
