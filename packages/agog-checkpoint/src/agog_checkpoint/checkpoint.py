"""Checkpoint: saves and restores a group of objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from agog_checkpoint import formats, together
from agog_checkpoint.graph import Graph, graph_of_names
from agog_checkpoint.objects import by_name, snapshot
from agog_checkpoint.pointer import point_to
from agog_checkpoint.restore import Restore
from agog_checkpoint.status import CheckpointLoadStatus, InitializationOnlyStatus
from agog_checkpoint.write_behind import WriteBehind
from agog_core import Variable, device, int64
from agog_core.checkpointable import Checkpointable, is_checkpointable
from agog_core.files import absolute, file_path


class Checkpoint(Checkpointable):
    """A group of objects whose state is saved and restored together.

    The state is that of all objects reachable through attributes, lists, tuples and dicts. Each value is saved under
    its shortest path, such as ``model/layers/0/kernel``, and an optimizer's slot under the paths of the optimizer and
    the variable, such as ``optimizer/.slot/m/model/layers/0/kernel``.

    Args:
        **objects: the objects, which become attributes; more attributes may be added later.

    Raises:
        ValueError: an object has no state that could be saved.

    >>> import tempfile
    >>> v = Variable([1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Checkpoint(v=v).save(f"{folder}/ckpt")
    ...     _ = v.assign([0.0, 0.0])
    ...     print(Checkpoint(v=v).restore(path))
    <CheckpointLoadStatus of '...ckpt-1'
      matched (2): v, save_counter>
    >>> v.numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, **objects: Any) -> None:
        for name, value in sorted(objects.items()):
            if not is_checkpointable(value):
                raise ValueError(
                    "`Checkpoint` was expecting a checkpointable object (a variable, a layer, a model, an optimizer, "
                    "an iterator, another object derived from `Checkpointable`, or a list, tuple or dict with such "
                    f"parts), but the argument {name!r} is {value!r} of type {type(value).__name__}; put a value that "
                    "should be saved into a Variable."
                )
            setattr(self, name, value)

    @cached_property
    def save_counter(self) -> Variable:
        """The number of checkpoints that `save` has made: an int64 variable, made when it is first used."""
        with device(None):
            return Variable(0, trainable=False, name="save_counter", dtype=int64)

    def save(
        self,
        file_prefix: str | os.PathLike[str],
        session: Any = None,
        *,
        max_shard_bytes: int | None = None,
        asynchronous: bool = False,
    ) -> str:
        """Save all state into the next numbered file, and make that the newest checkpoint of its folder.

        Args:
            file_prefix: the folder, which is made if it is missing, and the beginning of the file's name.
            max_shard_bytes: how many bytes of values a file may have: what is more goes into several files, with an
                index in the layout of the Hugging Face Hub; None for one file of any size.
            asynchronous: whether to return at once and to write behind: nothing is copied, and later assignments do not
                change what is saved. A failure is then raised when the next save or restore begins, or by `wait`.

        Returns:
            The checkpoint's path, ``<file_prefix>-<number>``, for `restore`; the file has that name and
            ``.safetensors`` behind it.

        Raises:
            ValueError: an object's state cannot be saved, a dict has a key that is not a string, or
                ``max_shard_bytes`` is not positive.
            UnimplementedError: it is a URL, such as ``s3://bucket/run``, of a file system that is not installed.
            InvalidArgumentError: it holds a NUL character.
            ResourceExhaustedError: the disk is full.
            PermissionDeniedError: the folder may not be written.
            UnknownError: the system failed in another way. In all cases earlier checkpoints are as they were.

        >>> import tempfile
        >>> v = Variable(1.0)
        >>> checkpoint = Checkpoint(v=v)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = checkpoint.save(f"{folder}/ckpt", asynchronous=True)
        ...     _ = v.assign(2.0)  # what is being saved does not change
        ...     checkpoint.wait()
        ...     _ = checkpoint.restore(path)
        >>> v.numpy()
        np.float32(1.0)
        """
        prefix = file_path("Checkpoint.save", file_prefix)
        with self._behind.lock:
            self._behind.wait()
            self.save_counter.assign_add(1)
            try:
                path = f"{prefix}-{int(self.save_counter)}"
                self._write(path, partial(point_to, absolute(path)), max_shard_bytes, asynchronous)
            except BaseException:
                self.save_counter.assign_sub(1)
                raise
        return path

    def write(
        self,
        file_prefix: str | os.PathLike[str],
        session: Any = None,
        *,
        max_shard_bytes: int | None = None,
        asynchronous: bool = False,
    ) -> str:
        """Save all state into one file, without numbering it or making it the newest checkpoint of its folder.

        Args:
            file_prefix: the folder, which is made if it is missing, and the file's name without ``.safetensors``.
            max_shard_bytes, asynchronous: see `save`.

        Returns:
            The checkpoint's path, ``file_prefix``, for `restore`.

        Raises:
            ValueError: an object's state cannot be saved, a dict has a key that is not a string, or
                ``max_shard_bytes`` is not positive.
            UnimplementedError: it is a URL, such as ``s3://bucket/run``, of a file system that is not installed.
            InvalidArgumentError: it holds a NUL character.
            ResourceExhaustedError: the disk is full.
            PermissionDeniedError: the folder may not be written.
            UnknownError: the system failed in another way. In all cases the file is as it was.
        """
        path = file_path("Checkpoint.write", file_prefix)
        self._write(path, None, max_shard_bytes, asynchronous)
        return path

    def wait(self) -> None:
        """Wait until what an asynchronous save writes is on the disk.

        Raises:
            ResourceExhaustedError: it has failed, because the disk is full.
            PermissionDeniedError: it has failed, because the folder may not be written.
            UnknownError: it has failed in another way. In all cases earlier checkpoints are as they were.
        """
        self._behind.wait()

    @cached_property
    def _behind(self) -> WriteBehind:
        return WriteBehind()

    def _write(
        self,
        path: str,
        then: Callable[[], None] | None,
        max_shard_bytes: int | None,
        asynchronous: bool,
        follow: Callable[[], None] | None = None,
    ) -> None:
        """Save a snapshot after earlier saves, and call ``then``; of several processes, rank 0 does, and the others
        call ``follow``."""
        if max_shard_bytes is not None and max_shard_bytes <= 0:
            raise ValueError(
                "Checkpoint: max_shard_bytes must be a positive number of bytes, or None for one file of any size; got "
                f"{max_shard_bytes}."
            )
        with self._behind.lock:
            self._behind.wait()
            processes = together.all_processes("Checkpoint.save")
            saved = snapshot(self)
            place = absolute(path)  # the program may change its folder meanwhile

            def save() -> None:
                together.save(processes, place, saved, max_shard_bytes, then, follow)

            if asynchronous:
                self._behind.start(save)
            else:
                save()

    def restore(
        self,
        save_path: str | os.PathLike[str] | None,
        *,
        mapping: Mapping[str, str] | None = None,
        only: str | Iterable[str] | None = None,
        skip: str | Iterable[str] = (),
        cast: bool = False,
    ) -> CheckpointLoadStatus | InitializationOnlyStatus:
        """Restore all state from a checkpoint: now into objects that exist, later into others when they are created.

        Objects are matched by the names on the way to them, not by their classes. A later restore wins over an earlier
        one that still waits for objects. Where an error is raised, nothing was changed. From the file of a `Saver`,
        variables that exist are restored by their names.

        Args:
            save_path: what `save`, `write` or `latest_checkpoint` returned; None restores nothing.
            mapping: paths of objects in the program to their paths or keys in the file, where these differ; an object
                takes all its parts with it. The empty path stands for all that was saved, or for this group.
            only: a path in the program, a pattern such as ``"model/*/kernel"``, or a list of them; None restores all.
            skip: paths or patterns that are left out, with the slots of their variables.
            cast: whether values of another dtype are cast to the variable's, if only precision is lost.

        Returns:
            A status: its `repr` is a report, its methods check for complete matches.

        Raises:
            NotFoundError: there is no such checkpoint; or it has nothing of a name that ``mapping`` asks for.
            DataLossError: the file is truncated or damaged, or is no checkpoint of agog.
            PermissionDeniedError: the file may not be read.
            ValueError: a shape or dtype in the file is not that of the object; or a pattern matches nothing.
            UnimplementedError: it is a URL, such as ``s3://bucket/run``, of a file system that is not installed.
            InvalidArgumentError: it holds a NUL character.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Checkpoint(old=[Variable(1.0), Variable(2.0)]).write(f"{folder}/ckpt")
        ...     checkpoint = Checkpoint(new=[Variable(0.0), Variable(0.0)])
        ...     print(checkpoint.restore(path, mapping={"new": "old"}, skip="new/1"))
        <CheckpointLoadStatus of '...ckpt'
          matched (1): old/0>
        """
        if save_path is None:
            return InitializationOnlyStatus()
        self._behind.wait()
        path = file_path("Checkpoint.restore", save_path)
        graph, arrays, fit = formats.read(path)
        return self._restore(path, graph, arrays, mapping, only, skip, cast, borrow=True, fit=fit)

    def read(
        self, save_path: str | os.PathLike[str], options: Any = None
    ) -> CheckpointLoadStatus | InitializationOnlyStatus:
        """Restore all state from what `write` has written: `restore`, by the name that TensorFlow 2 has for this.

        Args:
            save_path: what `write` returned.
            options: accepted, and of no effect.

        Returns:
            A status; see `restore`.

        >>> import tempfile
        >>> v = Variable(1.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Checkpoint(v=v).write(f"{folder}/ckpt")
        ...     v.assign(2.0)
        ...     status = Checkpoint(v=v).read(path)
        <tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.0>
        >>> float(v)
        1.0
        """
        return self.restore(save_path)

    def restore_tensors(
        self,
        tensors: Mapping[str, Any],
        *,
        mapping: Mapping[str, str] | None = None,
        only: str | Iterable[str] | None = None,
        skip: str | Iterable[str] = (),
        cast: bool = False,
    ) -> CheckpointLoadStatus:
        """Restore variables from arrays by name, such as those of `load_tensors`, as `restore` does from a file.

        Names are taken apart at slashes, or, where they have none, at dots: ``encoder.0.weight`` is the path
        ``encoder/0/weight``.

        Args:
            tensors: names to arrays.
            mapping: paths of objects in the program to names, or beginnings of names, in ``tensors``.
            only, skip, cast: see `restore`.

        Returns:
            A status, as that of `restore`.

        Raises:
            NotFoundError: no name is one that ``mapping`` asks for.
            ValueError: a shape or dtype is not that of the object; a pattern matches nothing; or one name is the
                beginning of another.

        >>> v = Variable([0.0, 0.0])
        >>> Checkpoint(kernel=v).restore_tensors({"fc.weight": np.float32([1, 2])}, mapping={"kernel": "fc.weight"})
        <CheckpointLoadStatus of 'tensors'
          matched (1): fc.weight>
        >>> v.numpy()
        array([1., 2.], dtype=float32)
        """
        arrays = {name: np.asarray(value) for name, value in tensors.items()}
        return self._restore("tensors", graph_of_names(arrays), arrays, mapping, only, skip, cast, borrow=False)

    def _restore(
        self,
        path: str,
        graph: Graph,
        arrays: Mapping[str, Any],
        mapping: Mapping[str, str] | None,
        only: str | Iterable[str] | None,
        skip: str | Iterable[str],
        cast: bool,
        borrow: bool,
        fit: formats.Fit | None = None,
    ) -> CheckpointLoadStatus:
        if fit is None and graph.is_by_name():
            mapping = {**by_name(self, graph), **(mapping or {})}
        wants, unwanted, selection = _wants_all, frozenset[int](), None
        if mapping or only is not None or skip:
            from agog_checkpoint.selection import Selection, renamed

            selection = Selection(only, skip)
            graph = renamed(path, graph, mapping or {})
        if fit is not None:
            graph = fit(graph, self)
        if selection is not None:
            wants, unwanted = selection.wants, frozenset(selection.unwanted(path, graph))
        if "save_counter" in graph.nodes[0].children:
            _ = self.save_counter  # makes it, so that it is restored
        return CheckpointLoadStatus(Restore(path, graph, arrays, self, cast, wants, unwanted, borrow), self)


def _wants_all(path: str) -> bool:
    return True
