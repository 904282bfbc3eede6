"""Creation: ways to make datasets of what is read or generated while they are iterated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agog_core import convert_to_tensor, matching_files
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.tensor_spec import TensorSpec
from agog_data import sources
from agog_data.elements import components, map_components
from agog_data.factory import dataset_of
from agog_data.methods.pipeline import Pipeline
from agog_data.stages.generating import Generated, generated_spec
from agog_data.stages.slicing import Slices

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class CreationMethods(Pipeline):
    """Ways to make datasets of what is read or generated while they are iterated."""

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
    ) -> Dataset:
        """A dataset of what a generator yields.

        Each iterator, and each epoch, calls the function once more. To resume an iterator from its state, the function
        is called again and as many elements are skipped, so it must yield the same each time; its random ops do.
        A generator is closed when its iterator is dropped.

        Args:
            generator: a function that returns an iterable: a generator function, for example.
            output_types: the dtypes of the elements, in their structure. What is yielded is converted to them.
            output_shapes: their shapes in the same structure, with None for sizes that vary; None for any shapes.
            args: what the function is called with, each converted to a NumPy array; None for nothing.
            output_signature: a `TensorSpec` for each component, in the structure of the elements, in place of
                ``output_types`` and ``output_shapes``.

        Returns:
            The dataset. Iterating raises `InvalidArgumentError` if an element has another structure or shape, or
            cannot be converted.

        Raises:
            TypeError: ``generator`` cannot be called, ``output_types`` holds something else than dtypes, or
                ``output_shapes`` has another structure.

        >>> from agog_data import Dataset
        >>> def squares(limit):
        ...     for number in range(limit):
        ...         yield number, [float(number**2)]
        >>> for number, square in Dataset.from_generator(squares, ("int32", "float32"), ([], [1]), args=[3]):
        ...     print(number.numpy(), square.numpy())
        0 [0.]
        1 [1.]
        2 [4.]
        """
        if not callable(generator):
            raise TypeError(
                f"from_generator: `generator` must be callable; got {generator!r} of type {type(generator).__name__}. "
                "Give the function that makes the generator, so that each epoch can have its own."
            )
        if (output_types is None) == (output_signature is None):
            raise TypeError(
                "from_generator: give either output_types, or output_signature, a structure of TensorSpecs."
            )
        if output_signature is not None:
            for spec in components(output_signature):
                if not isinstance(spec, TensorSpec):
                    raise TypeError(
                        f"from_generator: output_signature must hold TensorSpecs; it holds {spec!r} of type "
                        f"{type(spec).__name__}. A list is one component: use a tuple."
                    )
            output_types = map_components(lambda spec: spec.dtype, output_signature)
            output_shapes = map_components(lambda spec: spec.shape, output_signature)
        values = [convert_to_tensor(value).numpy() for value in args or ()]
        dataset: Dataset = dataset_of(Generated(generator, generated_spec(output_types, output_shapes), values))
        return dataset

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: Any = None) -> Dataset:
        """A dataset of the paths of the files that match patterns.

        The files are looked for now, once.

        Args:
            file_pattern: a string with ``*``, ``?`` and ``[...]``, or a vector of such.
            shuffle: whether the paths come in random order, another one in each epoch; None means True. If not, they
                are sorted.
            seed: determines the order; see `shuffle`.

        Returns:
            A dataset of scalar strings.

        Raises:
            InvalidArgumentError: no file matches.
        """
        paths = matching_files(file_pattern)
        if not len(paths):
            raise InvalidArgumentError(f"list_files: no files matched pattern: {_shown(file_pattern)}.")
        dataset: Dataset = dataset_of(Slices(sources.slices(paths)))
        return dataset if shuffle is False else dataset.shuffle(len(paths), seed=seed)


def _shown(pattern: Any) -> str:
    names = convert_to_tensor(pattern, "string").numpy()
    each = [names] if isinstance(names, bytes) else names.reshape(-1).tolist()
    return ", ".join(name.decode("utf-8", "backslashreplace") for name in each)
