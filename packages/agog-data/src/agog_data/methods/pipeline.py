"""Pipelines: the base of all families of methods, with a last stage and a way to append one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agog_data.factory import AnyDataset, dataset_of
from agog_data.stage import Stage

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class Pipeline(AnyDataset):
    """Stages, one behind the other."""

    _stage: Stage

    def _then(self, stage: Stage) -> Dataset:
        """The dataset that ends with a stage whose input is this one's last: a plain one, whatever class this is of."""
        dataset: Dataset = dataset_of(stage)
        return dataset
