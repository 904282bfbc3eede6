"""Placement: the stage that copies elements to a device, and lets the stages before work on another."""

from __future__ import annotations

from typing import Any

from agog_core.dispatch.devices.lookup import device, get_device
from agog_core.tensors.placement import bring
from agog_data.elements import Element, packer, tensor_components
from agog_data.stage import ElementIterator, Scope, Stage, UnaryIterator, UnaryStage
from agog_data.state import State


class Place(UnaryStage, keeps_count=True):
    """The elements of a stage, on the device named ``target``; the stages before work on ``source``."""

    def __init__(self, stage: Stage, target: str, source: str) -> None:
        super().__init__(stage)
        self._target = target
        self._source = source

    def spec(self) -> Any:
        with device(self._source):
            return self.input.spec()

    def sample(self, scope: Scope) -> Element:
        with device(self._source):
            element = self.input.sample(Scope())
        return _placed(element, self._target)

    def iterate(self, scope: Scope) -> ElementIterator:
        with device(self._source):
            return PlaceIterator(self.input.iterate(Scope()), self._target, self._source)


class PlaceIterator(UnaryIterator, name="copy_to_device"):
    """Copies an element when it is asked for."""

    def __init__(self, elements: ElementIterator, target: str, source: str) -> None:
        super().__init__(elements)
        self._target = target
        self._source = source

    def start(self, epoch: int) -> None:
        with device(self._source):
            super().start(epoch)

    def __next__(self) -> Element:
        with device(self._source):
            element = next(self._input)
        return _placed(element, self._target)

    def load_state_dict(self, state: State) -> None:
        with device(self._source):
            super().load_state_dict(state)


def _placed(element: Element, target: str) -> Element:
    place = get_device(target)
    return packer(element)([bring(x, place, ahead=True) for x in tensor_components("copy_to_device", element)])
