"""torch: PyTorch's eager calls, with images in channels-last memory and its fused Adam, and torch.compile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.kinds import Filters, Images


class Eager:
    """Each op runs when it is called."""

    family, module = "torch", torch

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        torch.set_num_threads(threads)

    def tensor(self, array: np.ndarray) -> Any:
        tensor = torch.from_numpy(np.array(array))
        if isinstance(array, Images):
            return tensor.permute(0, 3, 1, 2)
        if isinstance(array, Filters):
            return tensor.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        return tensor

    def variable(self, array: np.ndarray) -> Any:
        return self.tensor(array).requires_grad_()

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def gradient(
        self, formula: Callable[..., Any], inputs: Sequence[Any], sources: Sequence[int]
    ) -> Callable[..., Any]:
        result = formula(*inputs)
        # As agog's, element by element: the gradient of an image has its memory's order too.
        is_image = result.ndim == 4
        shape = [result.shape[axis] for axis in (0, 2, 3, 1)] if is_image else result.shape
        weights = torch.linspace(-1, 1, result.numel(), dtype=result.dtype).reshape(shape)
        weights = weights.permute(0, 3, 1, 2) if is_image else weights
        for number in sources:
            inputs[number].requires_grad_()
        function = self.compiled(formula)

        def gradients(*arguments: Any) -> Any:
            result = function(*arguments)
            return result, torch.autograd.grad(result, [arguments[number] for number in sources], weights)

        return gradients

    def training(
        self, loss: Callable[..., Any], parameters: Sequence[Any], batch: Sequence[Any], rate: float
    ) -> Callable[[], Any]:
        optimizer = torch.optim.Adam(parameters, rate, fused=True)
        function = self.compiled(loss)

        def step() -> Any:
            optimizer.zero_grad()
            value = function(*parameters, *batch)
            value.backward()
            optimizer.step()
            return value

        return step

    def number(self, result: Any) -> float:
        if isinstance(result, tuple):
            return sum(map(self.number, result))
        return float(result.detach().double().abs().sum())


class Compiled(Eager):
    """torch.compile of the forward computation, which compiles the backward one too."""

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        torch.compiler.reset()  # or the functions of earlier cases count as recompilations of this one
        compiled: Callable[..., Any] = torch.compile(function)
        return compiled
