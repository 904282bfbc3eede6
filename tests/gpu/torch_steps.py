"""The training steps in PyTorch, where it is installed with CUDA."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

Step = Callable[[], Any]


def available() -> bool:
    """Whether there is a PyTorch that sees a GPU."""
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def version() -> str | None:
    """PyTorch's version; None where there is none that sees a GPU."""
    if not available():
        return None
    import torch

    return str(torch.__version__)


def allow_tf32(is_allowed: bool) -> None:
    """Let PyTorch's products of float32 round to TF32, or not."""
    if available():
        import torch

        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = is_allowed


def wait() -> None:
    """Wait for the GPU."""
    import torch

    torch.cuda.synchronize()


def addition() -> Step:
    """The sum of two arrays of 1,024 numbers."""
    import torch

    x = torch.ones(1024, device="cuda")
    return lambda: x + x


def perceptron() -> Step:
    """A step of two layers."""
    from torch import nn

    network = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    return _step(network, (128, 784))


def convolutions() -> Step:
    """A step of a convolution, normalized over the batch, pooled, and a layer."""
    from torch import nn

    network = nn.Sequential(
        *(nn.Conv2d(1, 32, 3, padding="same"), nn.ReLU(), nn.BatchNorm2d(32), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * 14 * 14, 10)),
    )
    return _step(network, (64, 1, 28, 28))


def recurrent() -> Step:
    """A step of an LSTM and a layer."""
    from torch import nn

    class Network(nn.Module):  # type: ignore[misc]  # PyTorch need not be there
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.classes = nn.LSTM(32, 128, batch_first=True), nn.Linear(128, 10)

        def forward(self, inputs: Any) -> Any:
            return self.classes(self.lstm(inputs)[0][:, -1])

    return _step(Network(), (64, 20, 32))


TRAININGS = (perceptron, convolutions, recurrent)
"""In the order of the steps in agog."""


def _step(network: Any, batch: tuple[int, ...]) -> Step:
    import torch

    network.cuda()
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    inputs, labels = torch.rand(batch), torch.arange(batch[0]) % 10

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(inputs.cuda()), labels.cuda()).backward()
        optimizer.step()

    return step
