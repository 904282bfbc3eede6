"""What notebooks show: one-line reprs, and HTML and SVG that are well-formed and escaped."""

from __future__ import annotations

import base64
import math
import re
import struct
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import agog as tf

_EMPTY = {"br", "hr", "img"}


class Page(HTMLParser):
    """The tags, texts and cells of a page; fails where a tag is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.images: list[dict[str, Any]] = []
        self.rows: list[list[str]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        if tag == "img":
            self.images.append(dict(attrs))
        if tag not in _EMPTY:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def _shown(value: Any) -> Page:
    return Page(value._repr_html_())


def _decoded(source: str) -> np.ndarray[Any, Any]:
    """The pixels of a PNG, read by hand from https://www.w3.org/TR/png-3."""
    start, data = source.split(",")
    assert start == "data:image/png;base64"
    file = base64.b64decode(data)
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(file):
        [length] = struct.unpack(">I", file[at : at + 4])
        kind, content = file[at + 4 : at + 8], file[at + 8 : at + 8 + length]
        assert struct.unpack(">I", file[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + content),)
        chunks[kind], at = content, at + 12 + length
    width, height, depth, color = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert depth == 8
    channels = {0: 1, 2: 3, 6: 4}[color]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + width * channels)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, channels)


def test_a_matrix_is_a_table_of_its_values() -> None:
    x = tf.constant([[1.0, 2.5], [-3e10, 1 / 3]])
    page = _shown(x)
    assert page.rows == [["1", "2.5"], ["-3e+10", "0.333333"]]
    assert page.texts[0] == f"tf.Tensor: shape=(2, 2), dtype=float32, device={x.device}"


def test_long_axes_are_shown_without_their_middle() -> None:
    rows = _shown(tf.reshape(tf.range(24), [2, 12])).rows
    assert rows[0] == ["0", "1", "2", "3", "4", "…", "7", "8", "9", "10", "11"]
    assert [row[0] for row in _shown(tf.zeros([100, 1], tf.bool)).rows] == ["False"] * 5 + ["⋮"] + ["False"] * 5
    assert _shown(tf.range(3)).rows == [["0", "1", "2"]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tf.constant(0.5), "0.5"),
        (tf.constant(7), "7"),
        (tf.constant(1 + 2j), "1+2j"),
        (tf.constant(True), "True"),
        (tf.constant("<b>&"), "b'<b>&'"),
        (tf.constant(0.5, tf.bfloat16), "0.5"),
        (tf.zeros([0, 2]), "[]"),
        (tf.ones([1, 1, 2]), "[[[1. 1.]]]"),
    ],
)
def test_other_values_are_text(value: tf.Tensor, text: str) -> None:
    assert _shown(value).texts[1:] == [text]


def test_strings_are_escaped() -> None:
    html = tf.constant(["<script>alert(1)</script>"])._repr_html_()  # type: ignore[operator]  # attached
    assert "<script" not in html
    assert Page(html).rows == [["b'<script>alert(1)</script>'"]]


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_are_pictures(channels: int) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (2, 5, 7, channels), np.uint8)
    page = _shown(tf.constant(pixels))
    for image, expected in zip(page.images, pixels, strict=True):
        np.testing.assert_array_equal(_decoded(image["src"]), expected)
        assert image["alt"] == "an image of 5 x 7"
    [of_floats] = _shown(tf.constant(pixels[0] / np.float32(255))).images
    np.testing.assert_array_equal(_decoded(of_floats["src"]), pixels[0])


def test_of_pictures_only_the_corners_are_shown_as_numbers() -> None:
    [_, text] = _shown(tf.constant(np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3))).texts
    assert re.findall(r"\d+", text) == ["0", "2", "12", "14", "45", "47", "57", "59"]


@pytest.mark.parametrize(
    "value",
    [
        np.full([5, 5, 3], 1.5, np.float32),
        np.full([5, 5, 3], np.nan, np.float32),
        np.zeros([5, 5, 2], np.uint8),
        np.zeros([3, 5, 3], np.uint8),
        np.zeros([600, 5, 3], np.uint8),
        np.zeros([0, 5, 5, 3], np.float32),
        np.zeros([5, 5], np.uint8),
    ],
)
def test_what_is_no_small_image_is_no_picture(value: Any) -> None:
    assert _shown(tf.constant(value)).images == []


def test_few_of_many_images_are_pictures() -> None:
    assert len(_shown(tf.zeros([100, 4, 4, 1])).images) == 16


def test_a_variable_shows_its_name() -> None:
    v = tf.Variable([1.0], name="<v>", trainable=False)
    page = _shown(v)
    assert page.rows == [["1"]]
    assert "".join(page.texts[:1]) == (
        f"tf.Variable '<v>:0': shape=(1,), dtype=float32, device={v.device}, not trainable"
    )


def test_showing_a_value_is_no_read_that_tapes_see() -> None:
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        _shown(v)
    assert tape.watched_variables() == ()


def test_a_profile_is_a_table() -> None:
    with tf.profile() as seen:
        _ = tf.constant([1.0, 2.0]) * 2.0
    total = r"1 kernel calls, 0 copies, \d+\.\d{3} ms in them"
    assert re.fullmatch(f"<Profile: {total}>", repr(seen))
    page = _shown(seen)
    assert re.fullmatch(total, page.texts[0])
    assert page.rows[0] == ["op", "device", "count", "ms", "bytes", "plugin", "kernel"]
    assert [row[:3] for row in page.rows[1:]] == [["multiply", "cpu", "1"]]


def test_nothing_is_imported_before_something_is_shown() -> None:
    program = (
        "import agog as tf, sys; repr(tf.ones([2])); m = tf.keras.Sequential([tf.keras.layers.Dense(1)]);"
        "print([name for name in sys.modules if 'agog' in name and 'display' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def _small_model() -> Any:
    layers = [tf.keras.layers.Dense(2, input_shape=(3,), name="<a>"), tf.keras.layers.Flatten(name="b")]
    return tf.keras.Sequential(layers, name="small")


class Bare(tf.keras.Model):
    """A model that is derived, and has a variable of its own."""

    def __init__(self) -> None:
        super().__init__(name="bare")
        self.first = tf.keras.layers.Dense(2)

    def call(self, x: Any) -> Any:
        return self.first(x)


class Forgetful(tf.keras.layers.Layer):
    """A layer whose base knows nothing of it."""

    def __init__(self) -> None:
        pass


class Unnamed(tf.contrib.eager.Network):
    """A network, which has no name before its first call."""


def _called(layer: Any, shape: list[int]) -> Any:
    layer(tf.zeros(shape))
    return layer


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: tf.keras.layers.Dense(2, name="d"), "<Dense 'd': not built>"),
        (
            lambda: _called(tf.keras.layers.Dense(2, name="d"), [5, 3]),
            "<Dense 'd': output (?, 2), kernel (3, 2), bias (2,)>",
        ),
        (
            lambda: _called(tf.keras.layers.Flatten(name="f"), [5, 3, 2]),
            "<Flatten 'f': output (?, 6)>",
        ),
        (
            lambda: _called(tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2), name="b"), [5, 4, 3]),
            "<Bidirectional 'b': output (?, 4), 2 layers, 96 parameters>",
        ),
        (_small_model, "<Sequential 'small': output (?, 2), 2 layers, 8 parameters>"),
        (lambda: tf.keras.Sequential(name="s"), "<Sequential 's': not built>"),
        (lambda: Bare(), "<Bare 'bare': 1 layer, not built>"),
        (lambda: _called(Bare(), [5, 3]), "<Bare 'bare': output (?, 2), 1 layer, 8 parameters>"),
        (Forgetful, "<Forgetful: not initialized>"),
        (Unnamed, "<Unnamed: not named>"),
    ],
)
def test_layers_and_models_on_one_line(make: Any, expected: str) -> None:
    assert repr(make()) == expected


def test_a_model_is_its_summary() -> None:
    page = _shown(_small_model())
    assert page.texts[0] == "<Sequential 'small': output (?, 2), 2 layers, 8 parameters>"
    assert page.rows == [
        ["layer (type)", "output shape", "parameters", "bytes"],
        ["<a> (Dense)", "(?, 2)", "8", "32"],
        ["b (Flatten)", "(?, 2)", "0", "0"],
        ["trainable", "", "8", "32"],
        ["not trainable", "", "0", "0"],
        ["total", "", "8", "32"],
    ]


def test_a_layer_shows_its_variables() -> None:
    layer = _called(tf.keras.layers.BatchNormalization(name="n", center=False, scale=False), [2, 3])
    page = _shown(layer)
    assert page.texts[0] == "<BatchNormalization 'n': output (?, 3), moving_mean (3,), moving_variance (3,)>"
    assert page.rows == [
        ["variable", "shape", "dtype", "parameters", "trainable"],
        ["n/moving_mean:0", "(3,)", "float32", "3", "no"],
        ["n/moving_variance:0", "(3,)", "float32", "3", "no"],
    ]


@pytest.mark.parametrize("make", [Bare, Forgetful, Unnamed, lambda: tf.keras.layers.Dense(1)])
def test_what_is_not_built_shows_its_line(make: Any) -> None:
    layer = make()
    assert _shown(layer).texts == [repr(layer)]


def test_optimizers_on_one_line() -> None:
    v = tf.Variable([1.0, 2.0])
    adam = tf.train.AdamOptimizer(0.5, beta1=tf.Variable(0.75))
    numbers = "learning_rate=0.5, beta1=0.75, beta2=0.999, epsilon=1e-08"
    assert repr(adam) == f"<AdamOptimizer 'Adam': {numbers}>"
    adam.minimize(lambda: tf.reduce_sum(v * v))
    assert repr(adam) == f"<AdamOptimizer 'Adam': {numbers}, slots m, v of shapes (2,)>"
    variables = [tf.Variable(tf.zeros([n])) for n in range(1, 6)]
    momentum = tf.train.MomentumOptimizer(lambda: 0.5, 0.25)
    momentum.apply_gradients([(tf.zeros(each.shape), each) for each in variables])
    shapes = "(1,), (2,), (3,), (4,), ..."
    assert repr(momentum) == (
        f"<MomentumOptimizer 'Momentum': learning_rate=<<lambda>>, momentum=0.25, slots momentum of shapes {shapes}>"
    )
    assert repr(tf.keras.optimizers.SGD(lr=0.5, clipnorm=1.0)) == "<SGD 'SGD': lr=0.5, clipnorm=1.0, momentum=0.0>"
    wrapped = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5))
    assert repr(wrapped) == (
        "<MovingAverageOptimizer 'MovingAverage': optimizer=<GradientDescentOptimizer 'GradientDescent': "
        "learning_rate=0.5>>"
    )


def test_metrics_on_one_line() -> None:
    mean = tf.contrib.eager.metrics.Mean("loss")
    mean([1.0, 2.0])
    assert repr(mean) == "<Mean 'loss': numer=3.0, denom=2.0>"
    assert repr(tf.keras.metrics.Mean("m")) == "<Mean 'm': total=0.0, count=0.0>"
    assert repr(tf.contrib.eager.metrics.Metric("bare")) == "<Metric 'bare': no variables>"

    class Counts(tf.contrib.eager.metrics.Metric):
        def build(self, values: Any) -> None:
            self.counts = self.add_variable("counts", [2, 3])

        def call(self, values: Any) -> None:
            pass

    counts = Counts()
    counts(1.0)
    assert repr(counts) == "<Counts 'Counts': counts (2, 3)>"


_SVG = "{http://www.w3.org/2000/svg}"


def _history(logs: list[dict[str, float]]) -> Any:
    history = tf.keras.callbacks.History()
    for epoch, each in enumerate(logs):
        history.on_epoch_end(epoch, each)
    return history


def test_a_history_is_a_picture_of_its_curves() -> None:
    history = _history([{"loss": 4.0, "<acc>": 0.5, "val_loss": 3.0}, {"loss": 2.0, "<acc>": 1.0, "val_loss": 1.0}])
    assert repr(history) == "<History: 2 epochs, loss=2, <acc>=1, val_loss=1>"
    svg = ElementTree.fromstring(history._repr_svg_())
    loss, accuracy = svg.findall(f"{_SVG}g")
    assert [text.text for text in loss.iter(f"{_SVG}text")] == ["loss", "val_loss", "4", "1", "0", "1", "epoch"]
    assert [text.text for text in accuracy.iter(f"{_SVG}text")] == ["<acc>", "1", "0.5", "0", "1", "epoch"]
    # The frame is from 60 to 308 across, and from 24, the highest value 4, down to 172, the lowest value 1.
    curves = [line.get("points") for line in loss.iter(f"{_SVG}polyline")]
    assert curves == ["60.0,24.0 308.0,122.7", "60.0,73.3 308.0,172.0"]
    assert [line.get("stroke-dasharray") for line in loss.iter(f"{_SVG}polyline")] == [None, "4 3"]


def test_histories_of_many_metrics_have_several_rows() -> None:
    svg = ElementTree.fromstring(_history([{f"m{n}": 0.0 for n in range(5)}])._repr_svg_())
    assert (svg.get("width"), svg.get("height")) == ("960", "400")
    places = ["0,0", "320,0", "640,0", "0,200", "320,200"]
    assert [panel.get("transform") for panel in svg.findall(f"{_SVG}g")] == [f"translate({at})" for at in places]


def test_a_history_of_one_epoch_or_of_no_finite_number_is_a_picture_too() -> None:
    one, none = _history([{"loss": 0.0}]), _history([{"loss": math.nan}])
    assert [repr(one), repr(none)] == ["<History: 1 epoch, loss=0>", "<History: 1 epoch, loss=nan>"]
    [circle] = ElementTree.fromstring(one._repr_svg_()).iter(f"{_SVG}circle")
    assert (circle.get("cx"), circle.get("cy")) == ("184.0", "98.0")
    assert list(ElementTree.fromstring(none._repr_svg_()).iter(f"{_SVG}circle")) == []
    empty = _history([])
    assert (repr(empty), empty._repr_svg_()) == ("<History: 0 epochs>", None)


def test_fit_returns_a_history_that_is_shown() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    history = model.fit(np.eye(2, dtype=np.float32), np.ones(2, np.float32)[:, None], verbose=0)
    assert repr(history) == "<History: 1 epoch, loss=1>"
    ElementTree.fromstring(history._repr_svg_())


def test_a_status_is_a_table_of_what_was_restored(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).save(str(tmp_path / "<c>"))
    status = tf.train.Checkpoint(a=tf.Variable(0.0), d=tf.Variable(0.0)).restore(path)
    page = _shown(status)
    assert page.texts[0] == f"CheckpointLoadStatus of {path!r}"
    assert page.rows == [
        ["what", "count", "keys"],
        ["matched", "2", "a, save_counter"],
        ["deferred until an object is created", "1", "b"],
        ["objects without a value in the file", "1", "d"],
    ]
    status.expect_partial()


def test_a_tape_is_a_picture_of_its_ops() -> None:
    x, v = tf.constant(1.0), tf.Variable(1.0, name="<w>")
    with tf.GradientTape() as tape:
        tape.watch(x)
        _ = tf.exp(x * v) + x
    svg = ElementTree.fromstring(tape._repr_svg_() or "")
    texts = {text.text: float(text.get("y") or 0) for text in svg.iter(f"{_SVG}text")}
    [source] = [text for text in texts if text and text.startswith("tensor ")]
    assert sorted(texts, key=lambda text: (texts[text], text)) == ["<w>:0", source, "multiply", "exp", "add"]
    assert sum("marker-end" in path.attrib for path in svg.iter(f"{_SVG}path")) == 5
    boxes = [(float(rect.get("x") or 0), float(rect.get("width") or 0)) for rect in svg.iter(f"{_SVG}rect")]
    assert all(left >= 0 and left + width <= float(svg.get("width") or 0) for left, width in boxes)


def test_a_tape_with_lines_shows_them() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        _ = tf.exp(x)
    texts = [text.text or "" for text in ElementTree.fromstring(tape._repr_svg_() or "").iter(f"{_SVG}text")]
    assert texts[1] == "exp"
    assert re.fullmatch(r"test_agog_displays\.py:\d+", texts[2])


def test_an_empty_or_a_long_tape_is_no_picture() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        assert tape._repr_svg_() is None
        tape.watch(x)
        for _ in range(200):
            x = tf.exp(x)
    assert tape._repr_svg_() is None
