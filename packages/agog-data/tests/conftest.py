"""What tests of several kinds of stages share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import random as ag_random
from agog_data import Dataset


def _values(dataset: Any) -> list[Any]:
    """The elements as lists; a component that is a dataset as the list of its elements."""

    def shown(component: Any) -> Any:
        return _values(component) if isinstance(component, Dataset) else np.asarray(component.numpy()).tolist()

    return [ag.nest.map_structure(shown, element) for element in dataset]


def _check_resumes(make: Callable[[], Dataset]) -> None:
    iterator = iter(make())
    states, elements = [json.dumps(iterator.state_dict())], []
    for element in iterator:
        elements += _values([element])
        states.append(json.dumps(iterator.state_dict()))
    states.append(json.dumps(iterator.state_dict()))  # after the end
    for count, state in enumerate(states):
        ag_random.set_generator(ag_random.Generator())
        resumed = iter(make())
        resumed.load_state_dict(json.loads(state))
        assert _values(resumed) == elements[count:], f"resumed after {count} elements"


@pytest.fixture
def check_resumes() -> Callable[[Callable[[], Dataset]], None]:
    """After every element, a new iterator with other random keys takes over by the state."""
    return _check_resumes
