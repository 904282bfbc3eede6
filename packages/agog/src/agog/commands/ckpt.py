"""Ckpt: the command to inspect, compare and verify checkpoints, and to remove leftovers of crashes."""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import click

from agog.commands import wording
from agog.commands.checkpoint_differences import differences
from agog.commands.tables import print_columns
from agog_checkpoint import compact_json, file, formats, latest_checkpoint, load_tensors, remove_checkpoint
from agog_checkpoint.folders import checkpoints_in, files_of
from agog_checkpoint.graph import DTYPES, Graph
from agog_checkpoint.pointer import read_kept
from agog_checkpoint.recovery import INDEX_SUFFIX, remove_stale, stale_files
from agog_core import files
from agog_core.dtypes import as_dtype
from agog_core.errors import DataLossError, NotFoundError, OpError
from agog_training.saving.keras.files import is_keras_file

_LONGEST_STATE = 100

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


class Saved(NamedTuple):
    """What a checkpoint holds: arrays by key, other objects' state, and the program's names of the arrays."""

    arrays: Mapping[str, Any]
    states: dict[str, Any]
    names: dict[str, str]

    def by_name(self) -> dict[str, Any]:
        """The arrays by their names in the program."""
        return {self.names[key]: array for key, array in self.arrays.items()}


class Leaf(NamedTuple):
    """What a checkpoint holds under a key: a tensor of a dtype and shape, or another object's state as JSON."""

    dtype: str | None
    shape: tuple[int, ...]
    bytes: int
    state: Any = None

    def __str__(self) -> str:
        if self.dtype is not None:
            return f"{self.dtype} {list(self.shape)} {wording.size(self.bytes)}"
        text = compact_json.dump(self.state, ensure_ascii=False)
        return text if len(text) <= _LONGEST_STATE else f"{text[:_LONGEST_STATE]}... ({len(text)} characters)"


@click.group()
def ckpt() -> None:
    """See what checkpoints hold, compare and check them."""


@ckpt.command("ls")
@click.argument("folder")
@as_json_option
def list_folder(folder: str, as_json: bool) -> None:
    """List the checkpoints of FOLDER: number, size, date, metrics, which is the newest and which the best."""
    with _errors():
        folder = files.file_path("agog ckpt", folder)
        paths = _checkpoints_of(folder)
        damage = None
        try:
            kept, newest = read_kept(folder), _newest(folder)
        except OpError as error:  # the checkpoints may be whole, and can be restored by their paths
            kept, newest, damage = None, None, error
        found: list[dict[str, Any]] = []
        for path in paths:
            name = os.path.basename(path)
            try:
                size, seconds = _bytes_on_disk(path), max(map(files.modified, files_of(path)))
            except (FileNotFoundError, ValueError):  # a program that saves has deleted it
                continue
            number = name.rpartition("-")[2]
            found.append(
                {
                    "checkpoint": name,
                    "number": int(number) if number.isdecimal() else None,
                    "bytes": size,
                    "saved": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)),
                    "newest": path == newest,
                    "best": kept is not None and kept.best == name,
                    "listed": kept is None or name in kept.times,
                    "metrics": {} if kept is None else kept.metrics.get(name, {}),
                }
            )
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        print_columns([("checkpoint", "number", "size", "saved", ""), *map(_row, found)])
    if damage is not None:
        raise click.ClickException(wording.shown(str(damage)))


def _row(found: dict[str, Any]) -> tuple[str, ...]:
    marks = [mark for mark in ("newest", "best") if found[mark]]
    marks += [] if found["listed"] else ["not in the list"]
    marks += [f"{wording.shown(metric)}={value:g}" for metric, value in found["metrics"].items()]
    number = "" if found["number"] is None else str(found["number"])
    return wording.shown(found["checkpoint"]), number, wording.size(found["bytes"]), found["saved"], ", ".join(marks)


@ckpt.command()
@click.argument("path")
@as_json_option
def show(path: str, as_json: bool) -> None:
    """Show the tree of objects in the checkpoint PATH, or in the newest of the folder PATH.

    Models that were saved whole are shown under any name, safetensors files of other programs by the names of their
    tensors, and files of Keras by the paths of their arrays.
    """
    with _errors():
        path = _one(path)
        leaves, separator = _contents(path)
    if as_json:
        click.echo(
            json.dumps({"path": path, "leaves": {key: leaf._asdict() for key, leaf in leaves.items()}}, indent=2)
        )
        return
    tensors = [leaf for leaf in leaves.values() if leaf.dtype is not None]
    kind = "variable" if separator == "/" else "tensor"
    size = wording.size(sum(leaf.bytes for leaf in tensors))
    click.echo(f"{wording.shown(path)}: {wording.counted(len(tensors), kind)}, {size}")
    shown: tuple[str, ...] = ()
    for key in sorted(leaves, key=lambda key: key.split(separator)):
        *parents, name = key.split(separator)
        for depth, parent in enumerate(parents):
            if tuple(parents[: depth + 1]) != shown[: depth + 1]:
                click.echo(f"{'  ' * (depth + 1)}{wording.shown(parent)}")
        shown = (*parents, name)
        click.echo(f"{'  ' * len(shown)}{wording.shown(name)}  {wording.shown(str(leaves[key]))}")


def _contents(path: str) -> tuple[dict[str, Leaf], str]:
    """What a checkpoint holds by key, or any safetensors file by the tensors' names; and what separates their parts."""
    if _is_by_itself(path) and is_keras_file(path):
        from agog_training.saving.keras.contents import keras_contents

        return {name: Leaf(*each) for name, each in keras_contents(path).items()}, "/"
    if formats.is_of_tensorflow(path):
        return _leaves_of_tensorflow(path), "/"
    try:
        graph, _ = _read_graph(path)
    except DataLossError as error:
        if "it is of another program" not in str(error):
            raise
        tensors = load_tensors(file.main_file(path) or path)
        return {name: Leaf(as_dtype(x.dtype).name, x.shape, x.nbytes) for name, x in tensors.items()}, "."
    return _leaves(graph), "/"


def _is_by_itself(path: str) -> bool:
    """Whether a path names a file, and not a checkpoint, whose files have longer names."""
    return not file.exists(path) and files.is_file(path)


def _read(path: str) -> Saved:
    """Read a checkpoint of agog or TensorFlow, or a model that was saved whole under any name."""
    if formats.is_of_tensorflow(path):
        from agog_checkpoint.tensorflow.named_tensors import NamedTensors

        tensors = NamedTensors(path)
        names = {key: name for name, key in tensors.checkpoint.full_names().items()}
        return Saved(dict(tensors), {}, {key: names.get(key, key) for key in tensors})
    graph, arrays = _read_graph(path)
    states = {label: node.state for number, label in graph.labels().items() if (node := graph.nodes[number]).state}
    return Saved(arrays, states, graph.names())


def _read_graph(path: str) -> tuple[Graph, dict[str, Any]]:
    if not _is_by_itself(path):
        return file.read(path)
    if is_keras_file(path):
        raise ValueError(
            f"{path!r} is a file of Keras; of these `agog ckpt show` shows what they hold, and that is all."
        )
    return file.read_file(path)


@ckpt.command()
@click.argument("path")
@as_json_option
def verify(path: str, as_json: bool) -> None:
    """Check every byte of the checkpoint PATH, or of all in the folder PATH; exit with 1 where one is damaged."""
    with _errors():
        is_folder = files.is_folder(path := files.file_path("agog ckpt", path))
        paths = _checkpoints_of(path) if is_folder else [_one(path)]
        found: dict[str, dict[str, Any]] = {}
        for each in paths:
            try:
                count = len(_read(each).arrays)
            except NotFoundError:
                if not is_folder:
                    raise
                found[each] = {"state": "deleted meanwhile"}
            except OpError as error:
                found[each] = {"state": "damaged", "error": str(error)}
            else:
                found[each] = {"state": "whole", "tensors": count}
    if as_json:
        click.echo(json.dumps(found, indent=2))
    for each, said in {} if as_json else found.items():
        if said["state"] == "damaged":
            click.echo(f"{wording.shown(each)}: DAMAGED\n  {wording.shown(said['error'])}")
        else:
            counted = f", {wording.counted(said['tensors'], 'tensor')}" if "tensors" in said else ""
            click.echo(f"{wording.shown(each)}: {said['state']}{counted}")
    if damaged := sum(said["state"] == "damaged" for said in found.values()):
        raise click.ClickException(f"{damaged} of {wording.counted(len(paths), 'checkpoint')} cannot be restored.")


@ckpt.command()
@click.argument("one")
@click.argument("other")
@as_json_option
def diff(one: str, other: str, as_json: bool) -> None:
    """Compare the checkpoints ONE and OTHER (or the newest of folders); exit with 1 where they differ."""
    with _errors():
        one, other = _one(one), _one(other)
        saved, others = _read(one), _read(other)
        arrays, other_arrays = saved.arrays, others.arrays
        if formats.is_of_tensorflow(one) != formats.is_of_tensorflow(other):  # which has names, and no keys
            arrays, other_arrays = saved.by_name(), others.by_name()
        lines = differences(one, arrays, saved.states, other, other_arrays, others.states)
    if as_json:
        click.echo(json.dumps({"tensors": len(arrays), "differences": lines}, indent=2))
        raise SystemExit(1 if lines else 0)
    if not lines:
        click.echo(f"{wording.counted(len(arrays), 'tensor')} and all other state are the same.")
        return
    for line in lines:
        click.echo(wording.shown(line))
    raise SystemExit(1)


@ckpt.command()
@click.argument("folder")
@click.option("--delete", is_flag=True, help="Remove what is listed.")
@click.option("--unlisted", is_flag=True, help="Also checkpoints that are not in the list of the folder's manager.")
@as_json_option
def gc(folder: str, delete: bool, unlisted: bool, as_json: bool) -> None:
    """List what crashed saves left in FOLDER; with --unlisted also checkpoints that its manager does not list.

    The newest checkpoint is never taken. A manager that keeps one every few hours for good does not list those.
    """
    with _errors():
        folder = files.file_path("agog ckpt", folder)
        _check_folder(folder)
        paths = _unlisted(folder) if unlisted else []
        found = {name: files.status(files.join(folder, name)).size for name in stale_files(folder)}
        found |= {os.path.basename(path): _bytes_on_disk(path) for path in paths}
        if delete:
            remove_stale(folder)
            for path in paths:
                remove_checkpoint(path)
    if as_json:
        click.echo(json.dumps({"removed": delete, "bytes": found}, indent=2))
        return
    for name, size in found.items():
        click.echo(f"{'removed' if delete else 'would remove'} {wording.shown(name)}, {wording.size(size)}")
    if not found:
        click.echo("nothing to remove")
    elif not delete:
        click.echo("Nothing was removed; --delete removes it.")


@ckpt.command()
@click.argument("source")
@click.argument("target")
@click.option("--strip", default="", metavar="SCOPE", help="Leave out what names begin with, such as sequential/.")
@as_json_option
def convert(source: str, target: str, strip: str, as_json: bool) -> None:
    """Write the checkpoint SOURCE of TensorFlow as TARGET.safetensors, or one of agog as TensorFlow's files TARGET.*.

    The names of variables are kept, those of slots too, and what TARGET names is replaced.
    """
    with _errors():
        source = _one(source)
        from agog_checkpoint.tensorflow import conversion

        if formats.is_of_tensorflow(source):
            written = file.file_name(target)
            left_out = conversion.from_tensorflow(source, target, strip)
        elif target.endswith(file.SUFFIX):
            raise ValueError(f"{source!r} is a checkpoint of agog already; name one of TensorFlow, as m.ckpt.")
        else:
            written = target
            left_out = conversion.to_tensorflow(*_read_graph(source), target, strip)
        count = len(_read(target.removesuffix(file.SUFFIX)).arrays)
    if as_json:
        click.echo(json.dumps({"written": written, "tensors": count, "left out": left_out}, indent=2))
        return
    click.echo(f"{wording.shown(written)}: {wording.counted(count, 'tensor')}")
    for name, reason in left_out.items():
        click.echo(f"  left out {wording.shown(name)}: {wording.shown(reason)}")


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # click ends without a word where nobody reads on
        raise
    except (OpError, OSError, ValueError, ImportError) as error:
        raise click.ClickException(wording.shown(str(error))) from error


def _one(path: str) -> str:
    """The path of a checkpoint: of the newest for a folder, and without a suffix for a file."""
    path = files.file_path("agog ckpt", path)
    if path.endswith(".index") and formats.is_of_tensorflow(prefix := path.removesuffix(".index")):
        return prefix
    if not files.is_folder(path) or formats.is_of_tensorflow(path):
        return path.removesuffix(INDEX_SUFFIX).removesuffix(file.SUFFIX)
    newest = _newest(path)
    if newest is None:
        raise ValueError(f"the folder {path!r} names no newest checkpoint; give the path of one.")
    return newest


def _newest(folder: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a newest checkpoint that is gone is not in the list that is printed
        return latest_checkpoint(folder)


def _check_folder(folder: str) -> None:
    if not files.is_folder(folder):
        raise ValueError(f"there is no folder {folder!r}.")


def _checkpoints_of(folder: str) -> list[str]:
    _check_folder(folder)
    paths = [*checkpoints_in(folder), *formats.of_tensorflow_in(folder)]
    if not paths:
        raise ValueError(f"the folder {folder!r} has no checkpoints.")
    return paths


def _unlisted(folder: str) -> list[str]:
    kept = read_kept(folder)
    if kept is None:
        raise ValueError(
            f"the folder {folder!r} has no list of a CheckpointManager, so nothing tells which of its checkpoints are "
            "still wanted."
        )
    newest = _newest(folder)
    return [path for path in checkpoints_in(folder) if path != newest and os.path.basename(path) not in kept.times]


def _bytes_on_disk(path: str) -> int:
    return sum(files.status(each).size for each in files_of(path))


def _leaves_of_tensorflow(path: str) -> dict[str, Leaf]:
    from agog_checkpoint.tensorflow.named_tensors import NamedTensors

    tensors, leaves = NamedTensors(path), {}
    for name in tensors:
        dtype, shape = tensors.dtype(name), tensors.shape(name)
        size = sum(map(len, tensors[name].flat)) if dtype.name == "string" else math.prod(shape) * dtype.size
        leaves[name] = Leaf(dtype.name, shape, size)
    return leaves


def _leaves(graph: Graph) -> dict[str, Leaf]:
    """What the checkpoint of a graph holds, by key."""
    leaves = {}
    for number, label in graph.labels().items():
        node = graph.nodes[number]
        if node.variable is None:
            leaves[label] = Leaf(None, (), 0, node.state)
        else:
            variable = node.variable
            size = math.prod(variable.shape) * DTYPES[variable.dtype].size
            leaves[label] = Leaf(variable.dtype, tuple(variable.shape), size)
    return leaves
