"""A real notebook: a kernel runs its cells, and each shows what it should. AGOG_NOTEBOOK names a file to keep it in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from nbclient import NotebookClient

# The cells by what their last line shows.
CELLS = {
    "imports": "import numpy as np\nimport agog as tf\ntf.set_random_seed(1)",
    "matrix": "tf.constant([[1.0, 2.0], [3.0, 4.0]])",
    "scalar": "tf.constant(7)",
    "image": "tf.constant(np.arange(12 * 12 * 3).reshape(12, 12, 3) % 256, dtype=tf.uint8)",
    "variable": 'v = tf.Variable([1.0, 2.0], name="<v>")\nv',
    "model": """model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(4, activation="relu", input_shape=(3,), name="hidden"),
        tf.keras.layers.Dense(1, name="logits"),
    ],
    name="net",
)
model""",
    "layer": "model.layers[0]",
    "optimizer": "tf.train.AdamOptimizer(0.1)",
    "dataset": 'tf.data.Dataset.from_tensor_slices({"x": np.arange(6.0).reshape(3, 2), "y": [0, 1, 2]})',
    "tape": """with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.exp(v) * v)
tape""",
    "empty tape": "tf.GradientTape()",
    "history": """model.compile("sgd", "mse", ["mae"])
x, y = np.ones([8, 3], np.float32), np.ones([8, 1], np.float32)
model.fit(x, y, epochs=3, verbose=0, validation_data=(x, y))""",
    "profile": "with tf.profile() as seen:\n    tf.matmul(tf.ones([8, 8]), tf.ones([8, 8]))\nseen",
    "status": """import tempfile
checkpoint = tf.train.Checkpoint(v=v)
status = checkpoint.restore(checkpoint.save(tempfile.mkdtemp() + "/ckpt"))
status""",
}
HTML, SVG, TEXT = "text/html", "image/svg+xml", "text/plain"


@pytest.fixture(scope="module")
def shown() -> dict[str, dict[str, Any]]:
    """What each cell shows, by type; the run stops at a cell that fails."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    if path := os.environ.get("AGOG_NOTEBOOK"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
    streams = {name: text for name, cell in zip(CELLS, notebook.cells, strict=True) if (text := _streams(cell))}
    assert streams == {}  # no warning, and nothing printed
    results = {
        name: [out["data"] for out in cell.outputs if out.output_type == "execute_result"]
        for name, cell in zip(CELLS, notebook.cells, strict=True)
    }
    return {name: found[0] for name, found in results.items() if found}


def _streams(cell: Any) -> str:
    return "".join(out.text for out in cell.outputs if out.output_type == "stream")


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("matrix", ["float32", "(2, 2)", "device:CPU:0", ">4<"]),
        ("image", ["uint8", "(12, 12, 3)", 'src="data:image/png;base64,']),
        ("variable", ["&lt;v&gt;:0", "float32", "(2,)"]),
        ("model", ["net", "hidden (Dense)", "logits (Dense)", "(?, 4)", ">16<", ">21<"]),
        ("layer", ["hidden", "kernel", "(3, 4)"]),
        ("dataset", ["x", "y", "float64", "[4. 5.]"]),
        ("profile", ["matmul", "cpu-numpy"]),
        ("status", ["matched", "save_counter"]),
    ],
)
def test_tables(name: str, texts: list[str], shown: dict[str, dict[str, Any]]) -> None:
    assert [text for text in texts if text not in shown[name][HTML]] == []
    assert " at 0x" not in shown[name][TEXT]  # "0x" alone stands in names of temporary folders too


@pytest.mark.parametrize(("name", "texts"), [("tape", ["<v>:0", "exp", "multiply"]), ("history", ["loss", "epoch"])])
def test_pictures(name: str, texts: list[str], shown: dict[str, dict[str, Any]]) -> None:
    found = [text.text for text in ElementTree.fromstring(shown[name][SVG]).iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text not in found] == []


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("optimizer", "<AdamOptimizer 'Adam': learning_rate=0.1"),
        ("tape", "<GradientTape: 4 records of variables '<v>:0'; stopped>"),
        ("empty tape", "<GradientTape: 0 records; stopped>"),
        ("history", "<History: 3 epochs, "),
        ("scalar", "<tf.Tensor"),
    ],
)
def test_one_line_of_text(name: str, begin: str, shown: dict[str, dict[str, Any]]) -> None:
    text = shown[name][TEXT]
    assert text.startswith(begin)
    assert "\n" not in text
