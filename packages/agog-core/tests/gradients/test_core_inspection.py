"""What a tape says of itself: tables, pictures, and where a chain of gradients breaks."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import agog_core as ag
from agog_core import recording
from agog_core.gradients.inspection import why_none

HERE = __file__


def line(offset: int = 0) -> int:
    """The number of the line that calls this."""
    return sys._getframe(1).f_lineno + offset


def test_summary() -> None:
    x, v = ag.constant([1.0, 2.0, 3.0]), ag.Variable([1.0, 1.0, 1.0], name="w")
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        first = line(1)
        y = ag.exp(x * v)
        z = ag.reduce_sum(y)
    rows = tape.summary().split("\n")
    assert rows[0].split() == ["op", "from", "to", "bytes", "line"]
    product = z._id - 2
    assert rows[1].split() == ["multiply", f"{x._id},", "w:0", str(product), "24", f"{HERE}:{first}"]
    assert rows[2].split() == ["exp", str(product), str(y._id), "12", f"{HERE}:{first}"]
    assert rows[3].split() == ["reduce_sum", str(y._id), str(z._id), "0", f"{HERE}:{first + 1}"]
    assert rows[4] == "3 records, 36 bytes in 3 arrays"


def test_an_array_counts_once() -> None:
    x = ag.constant(np.zeros(1000))
    with ag.GradientTape() as tape:
        tape.watch(x)
        ag.square(x), ag.square(x)
    rows = tape.summary().split("\n")
    assert rows[1].split()[-1] == rows[2].split()[-1] == "8,000"
    assert rows[3] == "2 records, 8,000 bytes in 1 array"


def test_summary_of_a_used_tape_is_empty() -> None:
    x = ag.constant(1.0)
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    assert tape.summary().split("\n")[-1] == "0 records, 0 bytes in 0 arrays"


def test_gradients_of_a_tape_with_lines_are_the_same() -> None:
    x = ag.constant([1.0, 2.0])
    for persistent in (False, True):
        with ag.GradientTape(persistent=persistent, source_lines=True) as tape:
            tape.watch(x)
            first, second = ag.split(x * x * x, 2)
            y = first * second
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), [24.0, 12.0])


def test_breaks_are_noted_only_while_a_tape_keeps_lines() -> None:
    assert not recording.lined
    with ag.GradientTape():
        assert not recording.lined
    with ag.GradientTape(source_lines=True) as tape:
        assert recording.lined == [tape]
        with tape.stop_recording():
            assert not recording.lined
    assert not recording.lined


def test_reset_begins_new_lines() -> None:
    x = ag.constant(1.0)
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        ag.exp(x)
        tape.reset()
        tape.watch(x)
        where = line(1)
        ag.sin(x)
    assert tape.summary().split("\n")[1].split()[0::4] == ["sin", f"{HERE}:{where}"]


def pictured() -> ag.GradientTape:
    x, v = ag.constant(1.0), ag.Variable(1.0, name="w")
    with ag.GradientTape() as tape:
        tape.watch(x)
        ag.exp(x * v) + x
    return tape


def test_draw_dot() -> None:
    text = pictured().draw()
    names = dict(re.findall(r'(\w+) \[label="([^"]+)"', text))
    edges = [(names[a], names[b]) for a, b in re.findall(r"(\w+) -> (\w+);", text)]
    source = next(name for name in names.values() if name.startswith("tensor "))
    assert edges == [(source, "multiply"), ("w:0", "multiply"), ("multiply", "exp"), ("exp", "add"), (source, "add")]
    assert text.startswith("digraph tape {\n")


def test_draw_mermaid(tmp_path: Path) -> None:
    text = pictured().draw(tmp_path / "tape.mmd")
    assert (tmp_path / "tape.mmd").read_text() == text
    lines = text.split("\n")
    assert lines[0] == "flowchart TD"
    assert '  op0(["multiply"])' in lines
    assert "  op0 --> op1" in lines


def test_names_are_escaped_in_pictures() -> None:
    strange = 'a"b\\n<c>`#&;\nd'
    v = ag.Variable(1.0, name=strange)
    with ag.GradientTape() as tape:
        ag.exp(v)
    [label] = re.findall(r'\[label="((?:[^"\\]|\\.)*)", shape=box\];', tape.draw())
    assert re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), label) == f"{strange}:0"
    [text] = re.findall(r'^  x\d+\["([^"\n]*)"\]$', tape.draw(format="mermaid"), re.MULTILINE)
    assert text == r"a#34;b\n#60;c#62;#96;#35;#38;;<br>d:0"


def test_a_tape_on_one_line() -> None:
    v, w = ag.Variable(1.0, name="v"), ag.Variable(1.0, name="new\nline")
    tape = ag.GradientTape()
    assert repr(tape) == "<GradientTape: 0 records; stopped>"
    with tape:
        ag.exp(v)
        assert repr(tape) == "<GradientTape: 1 record of variables 'v:0'; records>"
        v * w
    assert repr(tape) == "<GradientTape: 3 records of variables 'v:0', 'new\\nline:0'; stopped>"
    with ag.GradientTape() as tape:
        for _ in range(5):
            ag.exp(ag.Variable(1.0, name="v"))
    assert repr(tape) == "<GradientTape: 5 records of variables 'v:0', 'v:0', 'v:0', 'v:0', ...; stopped>"


def test_draw_svg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # there are no programs
    text = pictured().draw(tmp_path / "tape.svg")
    assert (tmp_path / "tape.svg").read_text() == text
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    dot = pictured().draw()
    assert len(root.findall(f"{space}rect")) == dot.count("shape=")
    arrows = [path for path in root.findall(f"{space}path") if path.get("marker-end")]
    assert len(arrows) == dot.count(" -> ")


def test_draw_svg_of_a_long_tape_and_of_none() -> None:
    with ag.GradientTape() as tape:
        x = ag.Variable(1.0).read_value()
        for _ in range(300):
            x = ag.exp(x)
    assert tape.draw(format="svg").count("<rect") == 301
    with ag.GradientTape() as tape:
        pass
    assert ElementTree.fromstring(tape.draw(format="svg")).tag.endswith("svg")


def test_draw_another_format() -> None:
    with pytest.raises(ValueError, match=r"^GradientTape.draw: format must be 'dot', 'mermaid' or 'svg'; got 'png'\.$"):
        pictured().draw(format="png")


def test_why_none_names_the_line_of_an_op_without_gradient() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        y = x * x
        floor, after = line(1), line(2)
        z = ag.floor(y)
        target = z * ag.constant(2.0)
    assert tape.gradient(target, x) is None
    assert after == floor + 1
    assert why_none(tape, target, x) == (
        "No chain of recorded ops leads from the source to the target.\n"
        f"  {HERE}:{floor}: floor took a value that depends on the source, and passes no gradient back to it.\n"
        "  The tape has no record of the target."
    )


def test_why_none_names_the_line_of_numpy() -> None:
    v, w = ag.Variable([1.0, 2.0], name="v"), ag.Variable(1.0, name="w")
    with ag.GradientTape(source_lines=True) as tape:
        y = v * v
        taken = line(1)
        target = ag.constant(y.numpy().sum()) * w
    assert why_none(tape, target, v) == (
        "No chain of recorded ops leads from the source to the target.\n"
        f"  {HERE}:{taken}: a value that depends on the source was taken out by numpy() or a conversion to Python.\n"
        f"  {HERE}:{taken}: the target comes from multiply, which does not depend on the source."
    )


def test_why_none_without_lines() -> None:
    x, other = ag.constant(1.0), ag.constant(2.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        ag.exp(x)
        target = other * other
    assert why_none(tape, target, x) == (
        "No chain of recorded ops leads from the source to the target.\n"
        "  the last recorded op that depends on the source is exp; what follows it does not.\n"
        "  the target comes from multiply, which does not depend on the source.\n"
        "  Make the tape with source_lines=True to see the lines."
    )
    assert why_none(tape, target, ag.constant(1.0)) == (
        "The tape does not watch the source: call tape.watch(source) before it is used."
    )


def test_why_none_of_variables() -> None:
    fixed, read, unread = ag.Variable(1.0, trainable=False, name="a"), ag.Variable(1.0), ag.Variable(1.0, name="b")
    with ag.GradientTape() as tape:
        y = fixed * read
    assert why_none(tape, y, fixed) == (
        "Variable 'a:0' is not trainable; the tape watches it only if told to: tape.watch(v)."
    )
    assert why_none(tape, y, unread) == "Variable 'b:0' was not read while the tape recorded."
    assert why_none(tape, y, read).startswith("There is a chain from the source to the target")
    with ag.GradientTape(watch_accessed_variables=False) as tape:
        y = unread * 2.0
    assert why_none(tape, y, unread) == (
        "The tape does not watch variables unless told to: call tape.watch on variable 'b:0'."
    )


def test_why_none_of_integers_and_used_tapes() -> None:
    x = ag.constant(1.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y, z = x * x, x + 1.0
    assert why_none(tape, ag.constant(1), x) == (
        "The target has dtype int32, and only floating and complex numbers have gradients; cast earlier, with tf.cast."
    )
    tape.gradient(y, x)
    assert why_none(tape, z, x) == (
        "The tape has been used and keeps no lines; make it with source_lines=True, or persistent=True."
    )
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        y = ag.cast(ag.argmax([x, 5.0]), ag.float32) * 2.0
    before = why_none(tape, y, x)
    assert tape.gradient(y, x) is None
    assert why_none(tape, y, x) == before
    assert "keeps no lines" not in before
    with pytest.raises(TypeError, match=r"^why_none: the target must be a tensor or a variable; got 1\.0 of type"):
        why_none(tape, 1.0, x)


def test_why_none_of_an_input_without_a_gradient() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        where = line(1)
        y = ag.where(ag.greater(x, 1.0), ag.constant([1.0, 1.0]), ag.constant([0.0, 0.0]))
    assert why_none(tape, y, x).split("\n")[1] == (
        f"  {HERE}:{where}: greater took a value that depends on the source, and passes no gradient back to it."
    )


def test_why_none_does_not_deny_the_use_by_an_op_without_gradient() -> None:
    x = ag.constant([1.0, 5.0])
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        where = line(1)
        y = ag.cast(ag.argmax(x), ag.float32) * 2.0
    assert why_none(tape, y, x) == (
        "No chain of recorded ops leads from the source to the target.\n"
        f"  {HERE}:{where}: argmax took a value that depends on the source, and passes no gradient back to it.\n"
        "  The tape has no record of the target."
    )
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
    assert why_none(tape, ag.constant(1.0), x) == (
        "No chain of recorded ops leads from the source to the target.\n"
        "  No recorded op used the source.\n"
        "  The tape has no record of the target."
    )
