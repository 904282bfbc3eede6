"""Errors of saving and loading say what to do; damage runs nothing, and never passes for a model."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_checkpoint.file import read_file
from agog_core.errors import DataLossError, NotFoundError, OpError, TracingError, UnimplementedError
from agog_saved_model import load, save
from agog_saved_model.document import FILE
from agog_testing import says

COUNT = 500 if os.environ.get("AGOG_ENDURANCE") else 50


def test_what_cannot_be_saved(line: Any, tmp_path: Path) -> None:
    with says(
        TypeError,
        "saved_model.save: the object must be a model, a tf.Module or a tf.train.Checkpoint; got a function.",
    ):
        save(lambda x: x, tmp_path / "model")
    with says(
        TypeError,
        "saved_model.save: signatures must be a traced function, or a dict of names to such functions, with an "
        "input_signature or from get_concrete_function; got 3.",
    ):
        save(line, tmp_path / "model", signatures=3)
    module = ag.Module()
    module.f = ag.function(lambda x: ag.py_func(lambda y: y, [x], ag.float32), input_signature=[ag.TensorSpec([])])
    with pytest.raises(TracingError, match=r"^saved_model.save: <lambda> cannot be kept: .*calls a function of Python"):
        save(module, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_what_is_no_model(tmp_path: Path) -> None:
    with says(NotFoundError, f"saved_model.load: the folder {str(tmp_path)!r} holds no saved model."):
        load(tmp_path)


def rewritten(folder: Path, change: Any) -> None:
    """Change the document of a saved model, as another version of agog would write it."""
    from functools import partial

    from agog_checkpoint.commit import commit
    from agog_checkpoint.file import write
    from agog_checkpoint.objects import Snapshot

    graph, arrays = read_file(str(folder / FILE))
    values = {name: ag.constant(array.copy()) for name, array in arrays.items()}
    assert graph.nodes[0].state is not None
    change(graph.nodes[0].state["saved_model"])
    commit(str(folder / FILE), partial(write, saved=Snapshot(graph, values)))


def test_what_a_later_version_wrote(line: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "model" / FILE)
    save(line, tmp_path / "model")
    rewritten(
        tmp_path / "model",
        lambda document: document["functions"][0]["programs"][0]["program"]["block"]["steps"].insert(
            0, {"do": "op", "at": "", "name": "telepathy", "in": [0], "out": [99], "with": {}}
        ),
    )
    with says(
        UnimplementedError,
        f"saved_model.load: the file {file!r} cannot be used here: there is no op 'telepathy'; a plugin or a later "
        "version of agog may have it.",
    ):
        load(tmp_path / "model")
    rewritten(tmp_path / "model", lambda document: document.update(version=2))
    with says(
        UnimplementedError,
        f"saved_model.load: the file {file!r} has the format version 2, and this release reads version 1; another "
        "release of agog may read it.",
    ):
        load(tmp_path / "model")


def test_damaged_bytes(line: Any, tmp_path: Path) -> None:
    save(line, tmp_path / "model")
    whole = (tmp_path / "model" / FILE).read_bytes()
    source = random.Random(1)
    for _ in range(COUNT):
        content = bytearray(whole)
        for _ in range(source.choice((1, 1, 8))):
            content[source.randrange(len(content))] ^= 1 << source.randrange(8)
        if source.random() < 0.3:
            content = content[: source.randrange(len(content))]
        (tmp_path / "model" / FILE).write_bytes(content)
        with pytest.raises((DataLossError, UnimplementedError)):
            load(tmp_path / "model")


def test_damaged_documents(line: Any, tmp_path: Path) -> None:
    """Documents that somebody has changed, with checksums that are right, run nothing and end soon."""
    save(line, tmp_path / "whole")
    source, outcomes = random.Random(2), set()
    graph, _ = read_file(str(tmp_path / "whole" / FILE))
    assert graph.nodes[0].state is not None
    whole = json.dumps(graph.nodes[0].state["saved_model"])
    load(tmp_path / "whole")  # which has imported all that is needed
    for number in range(COUNT):
        folder = tmp_path / "model"
        shutil.copytree(tmp_path / "whole", folder)
        document = json.loads(whole)
        for _ in range(source.choice((1, 2, 5))):
            _mutate(document, source)

        def change(there: dict[str, Any], document: dict[str, Any] = document) -> None:
            there.clear()
            there.update(document)

        rewritten(folder, change)
        start = time.perf_counter()
        tracemalloc.start()
        try:
            load(folder)
            outcomes.add("loaded")
        except OpError:
            outcomes.add("refused")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 20_000_000, number
        assert time.perf_counter() - start < 5, number
        shutil.rmtree(folder)
    assert outcomes == {"loaded", "refused"}


def _mutate(document: Any, source: random.Random) -> None:
    """Change something at some depth."""
    holder = document
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return
        key = source.choice(keys)
        if isinstance(holder[key], (dict, list)) and holder[key] and source.random() < 0.9:
            holder = holder[key]
            continue
        value = source.choice(
            [
                None,
                -1,
                0,
                1,
                10**9,
                2**63,
                1.5,
                "",
                "x",
                "../../etc/passwd",
                [],
                {},
                [0],
                {"tensor": 0},
                True,
                {"size": [[10**12, []]]},
                "assets/../x",
                {"array": "constants/0"},
                "__class__",
                "os.system",
            ]
        )
        kind = source.random()
        if kind < 0.2:
            del holder[key]
        elif kind < 0.3 and isinstance(holder, list):
            holder.append(holder[key])
        else:
            holder[key] = value
        return


@pytest.mark.parametrize("step", range(3))
def test_a_save_that_fails_leaves_the_old_model(
    step: int, line: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(line, tmp_path / "model")
    (tmp_path / "vocabulary.txt").write_text("other\n")
    line.slope.assign(9.0)
    replace, fsync, calls = os.replace, os.fsync, []

    def fail(*args: Any) -> None:
        calls.append(args)
        if len(calls) > step:
            raise OSError(28, "No space left on device")
        (replace if len(args) > 1 else fsync)(*args)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OpError, match="No space left on device"):
            save(line, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert float(loaded.slope) == 2.0
    assert Path(loaded.path().numpy().decode()).read_text() == "a\nb\n"
