"""Cluster: TensorFlow's description of a run in several processes, compared with the processes that there are."""

from __future__ import annotations

import json
import os
from typing import Any

from agog_distribute.processes.groups import Group

_START = "agog's processes are started by a launcher, which tells each its rank: `mpiexec -n {count} python program.py`"


def check_cluster(kind: str, group: Group, cluster_resolver: Any = None) -> None:
    """Refuse a description of other processes than there are: a resolver, or the variable ``TF_CONFIG``.

    Raises:
        ValueError: there is such a description.
    """
    if cluster_resolver is not None:
        raise ValueError(f"{kind}: cluster_resolver must be None: {_START.format(count=2)}.")
    text = os.environ.get("TF_CONFIG", "")
    if not text:
        return
    try:
        config = json.loads(text)
        cluster = {task: len(addresses) for task, addresses in config.get("cluster", {}).items()}
        task = config.get("task", {})
        place = task.get("type", "worker"), int(task.get("index", 0))
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{kind}: TF_CONFIG is no description of a cluster: {error}.") from error
    others = sorted(set(cluster) - {"chief", "worker", "evaluator"})
    if others or place[0] == "evaluator":
        what = others[0] if others else "evaluator"
        raise ValueError(f"{kind}: TF_CONFIG has tasks of type {what!r}, which agog has not; all train alike.")
    count = cluster.get("chief", 0) + cluster.get("worker", 0) or 1
    rank = place[1] + (cluster.get("chief", 0) if place[0] == "worker" else 0)
    if (count, rank) != (group.size, group.rank):
        raise ValueError(
            f"{kind}: TF_CONFIG says that this is process {rank} of {count}, and it is process {group.rank} of "
            f"{group.size}: {_START.format(count=count)}."
        )
