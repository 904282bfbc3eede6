"""Folders: the files in a folder for each class, with labels, and their splits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agog_core.errors import NotFoundError
from agog_layers.arguments.checks import choice

Array = np.ndarray[Any, Any]


class LabeledFiles(NamedTuple):
    """Paths of files, the number of the class of each, and the classes; None if there are none."""

    paths: list[str]
    labels: Array | None
    class_names: list[str] | None


def labeled_files(
    function: str,
    directory: str | os.PathLike[str],
    labels: Any,
    class_names: Sequence[str] | None,
    suffixes: tuple[str, ...],
    follow_links: bool = False,
) -> LabeledFiles:
    """The files with such suffixes, class by class, sorted, at any depth.

    Labels are ``"inferred"`` of the folders, a list of numbers for the sorted paths, or None. A NotFoundError says that
    there is no such folder; a ValueError if there are no such files, or if names or labels do not fit.
    """
    root = os.fspath(directory)
    if not os.path.isdir(root):
        raise NotFoundError(f"{function}: there is no folder {root!r}.")
    if labels != "inferred":
        paths = _below(root, suffixes, follow_links)
        found = LabeledFiles(paths, None if labels is None else np.asarray(labels), None)
        if found.labels is not None and len(found.labels) != len(paths):
            raise ValueError(f"{function}: there are {len(found.labels)} labels for {len(paths)} files in {root!r}.")
    else:
        folders = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        names = folders if class_names is None else list(class_names)
        if missing := [name for name in names if name not in folders]:
            raise ValueError(f"{function}: the classes {missing} have no folder in {root!r}; there are {folders}.")
        files = [_below(os.path.join(root, name), suffixes, follow_links) for name in names]
        numbers = np.repeat(np.arange(len(names), dtype=np.int32), [len(each) for each in files])
        found = LabeledFiles([path for each in files for path in each], numbers, names)
    if not found.paths:
        raise ValueError(f"{function}: no file in {root!r} ends with {', '.join(suffixes)}.")
    return found


def _below(folder: str, suffixes: tuple[str, ...], follow_links: bool) -> list[str]:
    return sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(folder, followlinks=follow_links)
        for name in names
        if name.lower().endswith(suffixes)
    )


def parts(
    function: str, files: LabeledFiles, share: float | None, subset: str | None, shuffle: bool, seed: int | None
) -> list[LabeledFiles]:
    """The files of ``"training"``, ``"validation"`` or ``"both"``, the last share of them to validate on; or all.

    A ValueError says that the arguments do not go together.
    """
    if (share is None) != (subset is None):
        raise ValueError(f"{function}: validation_split and subset go together; got {share!r} and {subset!r}.")
    if share is None:
        return [files]
    choice(function, "subset", subset, ("training", "validation", "both"))
    if not 0 < share < 1:
        raise ValueError(f"{function}: validation_split must be between 0 and 1; got {share!r}.")
    if shuffle and seed is None:
        raise ValueError(
            f"{function}: validation_split with shuffle=True needs a seed, so that both parts have no file in common."
        )
    count = len(files.paths)
    order = np.random.Generator(np.random.Philox(seed)).permutation(count) if shuffle else np.arange(count)
    first = count - int(count * share)
    rows = {"training": [order[:first]], "validation": [order[first:]], "both": [order[:first], order[first:]]}
    return [
        LabeledFiles(
            [files.paths[row] for row in each], None if files.labels is None else files.labels[each], files.class_names
        )
        for each in rows[str(subset)]
    ]
