"""Adaptation: the base of layers that learn from data before training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar

from agog_core import Tensor, convert_to_tensor
from agog_layers.arguments.signature import NOT_GIVEN
from agog_layers.layer.layer import Layer

__all__ = ["Adaptable", "Preprocessing"]


class Preprocessing(Layer):
    """Base of layers that take data as it comes: a list is one tensor, and not several inputs."""

    computes_in: ClassVar[str | None] = "variable_dtype"  # what is cast is the result

    def __call__(self, inputs: Any = NOT_GIVEN, *args: Any, **kwargs: Any) -> Any:
        given = convert_to_tensor(inputs) if isinstance(inputs, (list, tuple)) else inputs
        return super().__call__(given, *args, **kwargs)


class Adaptable(Preprocessing):
    """Base of layers with `adapt`: subclasses say how they forget, see a batch, and conclude."""

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Learn from data; what was learned before is forgotten.

        Args:
            data: an array or tensor whose first axis counts examples, or a list; or a Dataset, or anything else to
                iterate over that gives batches of such.
            batch_size: how many examples of an array are looked at together; None for all.
            steps: how many batches are looked at; None for all.

        Raises:
            TypeError: an element of the dataset is no tensor, such as a pair with labels.
        """
        self.reset_state()
        for batch in islice(self._batches(data, batch_size), steps):
            self.update_state(batch)
        self.finalize_state()

    def reset_state(self) -> None:
        """Forget what was learned."""
        raise NotImplementedError(f"{type(self).__name__}.reset_state is not implemented; it forgets what was learned.")

    def update_state(self, data: Tensor) -> None:
        """Look at a batch."""
        raise NotImplementedError(f"{type(self).__name__}.update_state is not implemented; it looks at a batch.")

    def finalize_state(self) -> None:
        """Conclude from what was seen."""

    def _batches(self, data: Any, batch_size: int | None) -> Iterator[Tensor]:
        if isinstance(data, (list, tuple)) or hasattr(data, "shape"):
            tensor = convert_to_tensor(data)
            count = tensor._shape[0] if tensor._shape else 1
            size = batch_size or max(1, count)
            for start in range(0, count, size):
                yield tensor[start : start + size] if tensor._shape else tensor
            return
        if not isinstance(data, Iterable):
            raise TypeError(
                f"{self._title}: adapt takes arrays or batches; got {data!r} of type {type(data).__name__}."
            )
        for element in data:
            if isinstance(element, (tuple, dict)):
                raise TypeError(
                    f"{self._title}: adapt takes batches of inputs alone; got a {type(element).__name__} of "
                    f"{len(element)}. Leave labels out with dataset.map(lambda x, y: x)."
                )
            yield convert_to_tensor(element)
