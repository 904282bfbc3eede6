"""Drift: whether all processes hold the same values of what each of them has."""

from __future__ import annotations

import json
import warnings
from hashlib import blake2b
from typing import Any

import numpy as np

from agog_checkpoint import compact_json
from agog_checkpoint.checksum import checksum
from agog_checkpoint.objects import Snapshot
from agog_checkpoint.warning import CheckpointWarning
from agog_core.errors import FailedPreconditionError
from agog_core.processes import Processes


def check_replicas(processes: Processes, path: str, saved: Snapshot) -> None:
    """Compare the processes' values by their checksums.

    What is not trained, such as moving means, may differ, and so may state outside of variables: rank 0's is saved, and
    it warns. Raises FailedPreconditionError, on all, if other values differ, or if not all have the same objects.
    """
    items = _checksums(saved)
    digest = blake2b(json.dumps(items).encode(), digest_size=16).digest()
    if len(set(processes.exchange(digest))) == 1:
        return
    found: list[dict[str, str]] = [json.loads(each) for each in processes.exchange(json.dumps(items).encode())]
    unlike = {
        label: [rank for rank, each in enumerate(found) if each.get(label) != found[0].get(label)]
        for label in dict.fromkeys(label for each in found for label in each)
    }
    unlike = {label: ranks for label, ranks in unlike.items() if ranks}
    wrong = {label: ranks for label, ranks in unlike.items() if not _may_differ(label, saved, found)}
    if wrong:
        lines = "\n".join(f"  {label}: rank {', '.join(map(str, ranks))}" for label, ranks in wrong.items())
        raise FailedPreconditionError(
            f"Checkpoint: the processes do not hold the same, so there is no one state to save to {path!r}; nothing "
            f"was saved. What differs from rank 0:\n{lines}"
        )
    if processes.rank == 0:
        warnings.warn(
            f"Checkpoint: of {', '.join(map(repr, unlike))} the processes hold other values than rank 0, whose are "
            "saved.",
            CheckpointWarning,
            stacklevel=2,
        )


def _may_differ(label: str, saved: Snapshot, found: list[dict[str, str]]) -> bool:
    return all(label in each for each in found) and (label in saved.statistics or label.endswith(".state"))


def _checksums(saved: Snapshot) -> dict[str, str]:
    """The checksum of each value and state, and of the graph without these, by name."""
    graph = saved.graph
    labels = graph.labels()
    structure: list[Any] = [[node.children, node.state is None] for node in graph.nodes]
    found = {"the objects": _of_json([structure, graph.slots])}
    for number, node in enumerate(graph.nodes):
        variable = node.variable
        if variable is not None:
            bits = "" if variable.key in saved.shares else _of_array(saved.values[variable.key].numpy())
            found[variable.key] = f"{variable.dtype} {variable.shape} {bits}"
        elif node.state is not None:
            found[labels[number]] = _of_json(node.state)
    return found


def _of_array(array: Any) -> str:
    return checksum(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _of_json(value: Any) -> str:
    return blake2b(compact_json.dump(value).encode(), digest_size=8).hexdigest()
