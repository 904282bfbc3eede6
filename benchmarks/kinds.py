"""Kinds: what the cases have in common; each kind says what is timed of the formulas that a case gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from benchmarks.frameworks import Framework

# What makes the first value comparable: every framework starts from the numbers of one seed.
SEED = 1


class Images(np.ndarray):
    """A batch of images as (batch, height, width, channels), which PyTorch sees as channels last."""


class Filters(np.ndarray):
    """Filters as (height, width, input channels, output channels), which PyTorch sees as channels last."""


def normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed float32 numbers."""
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def images(rng: np.random.Generator, *shape: int) -> Images:
    """Images of normally distributed numbers."""
    return normal(rng, *shape).view(Images)


def filters(rng: np.random.Generator, *shape: int) -> Filters:
    """Filters that keep the size of what they are given."""
    return normal(rng, *shape, scale=np.sqrt(2 / np.prod(shape[:-1]))).view(Filters)


class Case:
    """One program; its docstring says what it computes, and its methods `agog`, `torch`, `jax` how.

    A framework whose method is missing has no such program.
    """

    unit: ClassVar[str] = "call"
    """What the reported time is of."""

    per: ClassVar[int] = 1
    """How many of those one call of the program does."""

    is_comparable: ClassVar[bool] = True
    """Whether the first result is the same number in all frameworks."""

    @property
    def name(self) -> str:
        """The name on the command line and in tables."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()

    def program(self, framework: Framework) -> Callable[[], Any]:
        """What is timed."""
        raise NotImplementedError

    def formula(self, framework: Framework) -> Callable[..., Any]:
        """The method of a framework, with its module as the first argument."""
        method = getattr(self, framework.family, None)
        if method is None:
            raise LookupError(f"{self.name} has no program for {framework.name}")
        return lambda *arguments: method(framework.module, *arguments)


class Repeated(Case):
    """A small formula of arrays, computed many times by one call; nothing is differentiated."""

    unit, per = "op", 100

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        """The inputs."""
        raise NotImplementedError

    def program(self, framework: Framework) -> Callable[[], Any]:
        inputs = [framework.tensor(array) for array in self.arrays(np.random.default_rng(SEED))]
        f, turns = framework.compiled(self.formula(framework)), self.turns

        def run() -> Any:
            for _ in range(turns):
                result = f(*inputs)
            return result

        return run

    turns: ClassVar[int] = 100


class Forward(Repeated):
    """A formula of arrays, computed once."""

    unit, per, turns = "call", 1, 1


class Gradient(Repeated):
    """A formula of arrays, its result, and the gradients of its weighted sum by all arrays of floats."""

    unit, per = "call", 1

    def program(self, framework: Framework) -> Callable[[], Any]:
        arrays = self.arrays(np.random.default_rng(SEED))
        inputs = [framework.tensor(array) for array in arrays]
        sources = [number for number, array in enumerate(arrays) if array.dtype.kind == "f"]
        step = framework.gradient(self.formula(framework), inputs, sources)
        return lambda: step(*inputs)


class Training(Case):
    """A step of training: a loss of parameters and a batch, its gradients, and Adam's update."""

    unit = "step"

    # Every step sees the same batch, so that the rate is tiny: else the loss would vanish, and with it all gradients;
    # those become denormal numbers, which take many times as long.
    rate: ClassVar[float] = 1e-6

    def parameters(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        """What is trained."""
        raise NotImplementedError

    def batch(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        """What it is trained on."""
        raise NotImplementedError

    def program(self, framework: Framework) -> Callable[[], Any]:
        rng = np.random.default_rng(SEED)
        parameters = [framework.variable(array) for array in self.parameters(rng)]
        batch = [framework.tensor(array) for array in self.batch(rng)]
        return framework.training(self.formula(framework), parameters, batch, self.rate)
