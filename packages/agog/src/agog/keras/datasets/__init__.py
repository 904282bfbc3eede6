"""``tf.keras.datasets``: databases to learn from."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agog.keras.datasets import cifar10, fashion_mnist, mnist

__all__ = ["cifar10", "fashion_mnist", "mnist"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # most programs do not read these files, so the readers are imported on first use
        import agog.keras.datasets.cifar10 as cifar10
        import agog.keras.datasets.fashion_mnist as fashion_mnist
        import agog.keras.datasets.mnist as mnist

        return {"cifar10": cifar10, "fashion_mnist": fashion_mnist, "mnist": mnist}[name]
    raise AttributeError(f"module 'agog.keras.datasets' has no attribute {name!r}")
