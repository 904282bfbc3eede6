"""Ckpt: the command to inspect, compare and verify checkpoints, and to remove leftovers of crashes."""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import click
import numpy as np

from agog.commands.tables import print_columns
from agog_checkpoint import compact_json, file, latest_checkpoint, load_tensors, remove_checkpoint
from agog_checkpoint.folders import checkpoints_in, files_of
from agog_checkpoint.graph import DTYPES, Graph
from agog_checkpoint.pointer import read_kept
from agog_checkpoint.recovery import INDEX_SUFFIX, remove_stale, stale_files
from agog_core.dtypes import as_dtype
from agog_core.errors import DataLossError, NotFoundError, OpError
from agog_training.saving.keras.files import is_keras_file

_LONGEST_STATE = 100

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


class Leaf(NamedTuple):
    """What a checkpoint holds under a key: a tensor of a dtype and shape, or another object's state as JSON."""

    dtype: str | None
    shape: tuple[int, ...]
    bytes: int
    state: Any = None

    def __str__(self) -> str:
        if self.dtype is not None:
            return f"{self.dtype} {list(self.shape)} {_size(self.bytes)}"
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
                size, seconds = _bytes_on_disk(path), max(map(os.path.getmtime, files_of(path)))
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
        raise click.ClickException(_shown(str(damage)))


def _row(found: dict[str, Any]) -> tuple[str, ...]:
    marks = [mark for mark in ("newest", "best") if found[mark]]
    marks += [] if found["listed"] else ["not in the list"]
    marks += [f"{_shown(metric)}={value:g}" for metric, value in found["metrics"].items()]
    number = "" if found["number"] is None else str(found["number"])
    return _shown(found["checkpoint"]), number, _size(found["bytes"]), found["saved"], ", ".join(marks)


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
    click.echo(f"{_shown(path)}: {_counted(len(tensors), kind)}, {_size(sum(leaf.bytes for leaf in tensors))}")
    shown: tuple[str, ...] = ()
    for key in sorted(leaves, key=lambda key: key.split(separator)):
        *parents, name = key.split(separator)
        for depth, parent in enumerate(parents):
            if tuple(parents[: depth + 1]) != shown[: depth + 1]:
                click.echo(f"{'  ' * (depth + 1)}{_shown(parent)}")
        shown = (*parents, name)
        click.echo(f"{'  ' * len(shown)}{_shown(name)}  {_shown(str(leaves[key]))}")


def _contents(path: str) -> tuple[dict[str, Leaf], str]:
    """What a checkpoint holds by key, or any safetensors file by the tensors' names; and what separates their parts."""
    if _is_by_itself(path) and is_keras_file(path):
        from agog_training.saving.keras.contents import keras_contents

        return {name: Leaf(*each) for name, each in keras_contents(path).items()}, "/"
    try:
        graph, _ = _read(path)
    except DataLossError as error:
        if "it is of another program" not in str(error):
            raise
        tensors = load_tensors(file.main_file(path) or path)
        return {name: Leaf(as_dtype(x.dtype).name, x.shape, x.nbytes) for name, x in tensors.items()}, "."
    return _leaves(graph), "/"


def _is_by_itself(path: str) -> bool:
    """Whether a path names a file, and not a checkpoint, whose files have longer names."""
    return not file.exists(path) and os.path.isfile(path)


def _read(path: str) -> tuple[Graph, dict[str, Any]]:
    """Read a checkpoint, or a model that was saved whole under any name."""
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
        is_folder = os.path.isdir(path)
        paths = _checkpoints_of(path) if is_folder else [_one(path)]
        found: dict[str, dict[str, Any]] = {}
        for each in paths:
            try:
                graph, _ = _read(each)
            except NotFoundError:
                if not is_folder:
                    raise
                found[each] = {"state": "deleted meanwhile"}
            except OpError as error:
                found[each] = {"state": "damaged", "error": str(error)}
            else:
                found[each] = {"state": "whole", "tensors": len(graph.variables())}
    if as_json:
        click.echo(json.dumps(found, indent=2))
    for each, said in {} if as_json else found.items():
        if said["state"] == "damaged":
            click.echo(f"{_shown(each)}: DAMAGED\n  {_shown(said['error'])}")
        else:
            counted = f", {_counted(said['tensors'], 'tensor')}" if "tensors" in said else ""
            click.echo(f"{_shown(each)}: {said['state']}{counted}")
    if damaged := sum(said["state"] == "damaged" for said in found.values()):
        raise click.ClickException(f"{damaged} of {_counted(len(paths), 'checkpoint')} cannot be restored.")


@ckpt.command()
@click.argument("one")
@click.argument("other")
@as_json_option
def diff(one: str, other: str, as_json: bool) -> None:
    """Compare the checkpoints ONE and OTHER (or the newest of folders); exit with 1 where they differ."""
    with _errors():
        one, other = _one(one), _one(other)
        (graph, arrays), (other_graph, other_arrays) = _read(one), _read(other)
        lines = [
            *_only(one, arrays, other_arrays),
            *_only(other, other_arrays, arrays),
            *(
                f"{key}: {difference}"
                for key in sorted(arrays.keys() & other_arrays.keys())
                if (difference := _difference(arrays[key], other_arrays[key])) is not None
            ),
            *_state_differences("", _states(graph), _states(other_graph)),
        ]
    if as_json:
        click.echo(json.dumps({"tensors": len(arrays), "differences": lines}, indent=2))
        raise SystemExit(1 if lines else 0)
    if not lines:
        click.echo(f"{_counted(len(arrays), 'tensor')} and all other state are the same.")
        return
    for line in lines:
        click.echo(_shown(line))
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
        _check_folder(folder)
        paths = _unlisted(folder) if unlisted else []
        found = {name: os.path.getsize(os.path.join(folder, name)) for name in stale_files(folder)}
        found |= {os.path.basename(path): _bytes_on_disk(path) for path in paths}
        if delete:
            remove_stale(folder)
            for path in paths:
                remove_checkpoint(path)
    if as_json:
        click.echo(json.dumps({"removed": delete, "bytes": found}, indent=2))
        return
    for name, size in found.items():
        click.echo(f"{'removed' if delete else 'would remove'} {_shown(name)}, {_size(size)}")
    if not found:
        click.echo("nothing to remove")
    elif not delete:
        click.echo("Nothing was removed; --delete removes it.")


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # click ends without a word where nobody reads on
        raise
    except (OpError, OSError, ValueError, ImportError) as error:
        raise click.ClickException(_shown(str(error))) from error


def _one(path: str) -> str:
    """The path of a checkpoint: of the newest for a folder, and without a suffix for a file."""
    if not os.path.isdir(path):
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
    if not os.path.isdir(folder):
        raise ValueError(f"there is no folder {folder!r}.")


def _checkpoints_of(folder: str) -> list[str]:
    _check_folder(folder)
    paths = checkpoints_in(folder)
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
    return sum(map(os.path.getsize, files_of(path)))


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


def _only(path: str, arrays: dict[str, Any], others: dict[str, Any]) -> list[str]:
    return [
        f"{key}: only in {path}, {arrays[key].dtype} {list(arrays[key].shape)}"
        for key in sorted(arrays.keys() - others.keys())
    ]


def _difference(one: Any, other: Any) -> str | None:
    if one.shape != other.shape:
        return f"shape {list(one.shape)} and {list(other.shape)}"
    if one.dtype != other.dtype:
        return f"dtype {one.dtype} and {other.dtype}"
    differing = one.tobytes() != other.tobytes() and ~((one == other) | ((one != one) & (other != other)))
    if differing is False:
        return None
    count = int(np.count_nonzero(differing))
    if not count:
        return "the same values in other bits (signed zeros or NaN)"
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        largest = np.max(np.abs(one.astype(wide) - other.astype(wide))[differing])
    return f"{count} of {_counted(one.size, 'value')} differ, by at most {largest:g}"


def _states(graph: Graph) -> dict[str, Any]:
    return {label: graph.nodes[number].state for number, label in graph.labels().items() if graph.nodes[number].state}


def _state_differences(label: str, one: Any, other: Any) -> Iterator[str]:
    """What differs in the innermost dicts, since the beginnings of long states are often the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            yield from _state_differences(f"{label} {name}".lstrip(), one.get(name), other.get(name))
    elif one != other:
        yield f"{label}: {_short(one)} and {_short(other)}"


def _short(state: Any) -> str:
    text = "nothing" if state is None else compact_json.dump(state, ensure_ascii=False)
    return text if len(text) <= _LONGEST_STATE else f"{text[:_LONGEST_STATE]}..."


def _shown(text: str) -> str:
    """A name, or a line with names, as a terminal may get it: what cannot be printed is escaped as Python does it."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _size(count: int) -> str:
    number = float(count)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.4g} GB"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
