"""Application: what networks for images have in common: Keras's arguments, the input, the top and the weights."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from agog_core import errors
from agog_core.calls.docstrings import documented_like
from agog_keras.applications.image_shape import image_shape
from agog_keras.applications.published import Published
from agog_layers import Dense
from agog_layers.convolution import GlobalAveragePooling2D, GlobalMaxPooling2D
from agog_layers.layer.symbolic import Symbolic
from agog_layers.models.input import Input, InputLayer
from agog_training import Model

__all__ = ["Application", "Network", "Wanted", "application", "classify"]

PathLike = str | os.PathLike[str]
Trunk = Callable[[Any], Any]


class Wanted(NamedTuple):
    """What a program asks for; see `ResNet50`."""

    include_top: bool
    weights: PathLike | None
    input_tensor: Any
    input_shape: Any
    pooling: str | None
    classes: int
    classifier_activation: Any
    name: str

    @property
    def imagenet(self) -> bool:
        """Whether the published weights are wanted."""
        return self.weights == "imagenet"


class Application(Protocol):
    """A function that makes a network, with Keras's arguments."""

    __name__: str

    def __call__(
        self,
        include_top: bool = True,
        weights: PathLike | None = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = 1000,
        classifier_activation: Any = "softmax",
        name: str = ...,
    ) -> Model:
        """Make the network.

        Args:
            include_top: whether the network ends in a layer of classes.
            weights: ``"imagenet"`` for Keras's weights, which are downloaded once; the path of a file that
                `Model.load_weights` reads; or None for random ones.
            input_tensor: an `Input`, or what layers make of one; None for a new one.
            input_shape: the shape of one image, without the batch; None for the shape that the network was made for,
                and for images of any size where ``include_top`` is False.
            pooling: what comes last without the top: ``"avg"`` or ``"max"`` of each channel; None for neither.
            classes: the number of classes.
            classifier_activation: the activation of the last layer; None for logits.
            name: the model's name.

        Returns:
            The model.

        Raises:
            ValueError: images of that shape are too small; ``"imagenet"`` has another shape, other classes or another
                activation; or ``weights`` is none of the above.
            UnavailableError: the weights cannot be downloaded.
            DataLossError: the file of weights is damaged.
        """


def classify(features: Any, classes: int, activation: Any) -> Any:
    """The top of most networks: the mean of each channel, and a layer of classes."""
    x = GlobalAveragePooling2D(name="avg_pool")(features)
    return Dense(classes, activation=activation, name="predictions")(x)


@dataclass(frozen=True)
class Network:
    """A network without its arguments.

    Attributes:
        title: the name of its function.
        trunk: what makes features of images.
        published: Keras's weights.
        size: the height and width of the images that it was made for.
        least: the least that it takes.
        top: what makes classes of features.
        pools: the names of the layers that ``pooling`` adds.
        scale_images: what images go through first; it is told whether the weights are Keras's.
    """

    title: str
    trunk: Trunk
    published: Published
    size: int = 224
    least: int = 32
    top: Callable[[Any, int, Any], Any] = classify
    pools: tuple[str | None, str | None] = ("avg_pool", "max_pool")
    scale_images: Callable[[Any, bool], Any] | None = None

    def build(self, wanted: Wanted) -> Model:
        """Make the model, and give it its weights."""
        self._check(wanted)
        shape = image_shape(self.title, wanted.input_shape, self.size, self.least, wanted.include_top, wanted.imagenet)
        file = self.published.fetch(wanted.include_top) if wanted.imagenet else wanted.weights
        images = Input(shape=shape) if wanted.input_tensor is None else wanted.input_tensor
        scaled = images if self.scale_images is None else self.scale_images(images, wanted.imagenet)
        outputs = self._end(self.trunk(scaled), wanted)
        model = Model(inputs=_source(images), outputs=outputs, name=wanted.name)
        if file is not None:
            self._load(model, file)
        return model

    def _check(self, wanted: Wanted) -> None:
        if wanted.imagenet and wanted.include_top and wanted.classes != 1000:
            raise ValueError(
                f"{self.title}: with weights='imagenet' and include_top=True classes must be 1000; got "
                f"{wanted.classes}. Pass include_top=False and add a layer for your classes, or weights=None."
            )
        if wanted.weights is not None and wanted.include_top and not _is_softmax(wanted.classifier_activation):
            raise ValueError(
                f"{self.title}: with weights classifier_activation must be 'softmax' or None; got "
                f"{wanted.classifier_activation!r}."
            )
        if wanted.pooling not in (None, "avg", "max"):
            raise ValueError(f"{self.title}: pooling must be None, 'avg' or 'max'; got {wanted.pooling!r}.")
        if wanted.input_tensor is not None and not isinstance(wanted.input_tensor, Symbolic):
            raise ValueError(
                f"{self.title}: input_tensor must be symbolic, a tf.keras.Input or what layers make of one; got "
                f"{wanted.input_tensor!r}. Call the model on a tensor."
            )

    def _end(self, features: Any, wanted: Wanted) -> Any:
        if wanted.include_top:
            return self.top(features, wanted.classes, wanted.classifier_activation)
        if wanted.pooling is None:
            return features
        pool, name = {
            "avg": (GlobalAveragePooling2D, self.pools[0]),
            "max": (GlobalMaxPooling2D, self.pools[1]),
        }[wanted.pooling]
        return pool(name=name)(features)

    def _load(self, model: Model, file: PathLike) -> None:
        try:
            model.load_weights(file)
        except errors.NotFoundError as error:
            raise ValueError(
                f"{self.title}: weights must be None, 'imagenet' or the path of a file; got {os.fspath(file)!r}, and "
                "there is no such file."
            ) from error


def application(published: Published, name: str | None = None, **options: Any) -> Callable[[Trunk], Application]:
    """Make a function with Keras's arguments of a trunk, which says the network's name and its documentation.

    Args:
        published: Keras's weights.
        name: the model's name; None for the function's in lower case.
        **options: see `Network`.
    """

    def decorate(trunk: Trunk) -> Application:
        network = Network(trunk.__name__, trunk, published, **options)
        model_name = trunk.__name__.lower() if name is None else name

        def build(
            include_top: bool = True,
            weights: PathLike | None = "imagenet",
            input_tensor: Any = None,
            input_shape: Any = None,
            pooling: str | None = None,
            classes: int = 1000,
            classifier_activation: Any = "softmax",
            name: str = model_name,
        ) -> Model:
            return network.build(
                Wanted(
                    include_top,
                    weights,
                    input_tensor,
                    input_shape,
                    pooling,
                    classes,
                    classifier_activation,
                    name,
                )
            )

        build.__name__, build.__qualname__, build.__module__ = trunk.__name__, trunk.__qualname__, trunk.__module__
        build.__doc__ = trunk.__doc__
        return documented_like(Application.__call__)(build)

    return decorate


def _is_softmax(activation: Any) -> bool:
    return activation is None or activation == "softmax" or getattr(activation, "__name__", "") in ("softmax", "linear")


def _source(symbol: Symbolic) -> Any:
    """The inputs that a symbolic value comes from: one, or a list."""
    found: dict[int, Symbolic] = {}
    waiting = [symbol]
    while waiting:
        here = waiting.pop()
        if isinstance(here.node.layer, InputLayer):
            found[id(here)] = here
        waiting += reversed(here.node.parents())
    inputs = list(found.values())
    return inputs[0] if len(inputs) == 1 else inputs
