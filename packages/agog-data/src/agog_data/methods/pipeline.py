"""What all families of methods rest on: a last stage, and a way to append one."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from agog_data.elements import AnyDataset
from agog_data.stage import Stage

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class Pipeline(AnyDataset):
    """Stages, one behind the other.

    Args:
        stage: the last one.
    """

    _stage: Stage

    @abstractmethod
    def _then(self, stage: Stage) -> Dataset:
        """The dataset that ends with a stage whose input is this one's last: a plain one, whatever class this is of."""
