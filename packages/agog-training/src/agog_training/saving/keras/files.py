"""Files: the weights in Keras's HDF5 files and ``.keras`` archives."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from agog_checkpoint.regular_file import open_local, open_regular
from agog_core import Variable
from agog_core.errors import DataLossError
from agog_core.files import is_file
from agog_layers import Layer, SpectralNormalization

HDF5 = b"\x89HDF\r\n\x1a\n"
_ZIP = b"PK\x03\x04"
# Where Keras keeps the weights that a layer of agog has itself: in parts of the layer, in the order of the weights.
_PARTS = {
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "ConvLSTM2D"), ("cell",)),
    "MultiHeadAttention": ("query_dense", "key_dense", "value_dense", "output_dense"),
}


class Found(NamedTuple):
    """A variable, and the dataset that holds its value."""

    variable: Variable
    dataset: Any


def is_keras(begin: bytes) -> bool:
    """Whether a file that begins so is one of Keras's: HDF5 or an archive.

    >>> is_keras(b"PK\\x03\\x04....")
    True
    """
    return begin.startswith((HDF5, _ZIP))


def is_keras_file(path: str) -> bool:
    """Whether a path names a file of Keras's."""
    if not is_file(path):
        return False
    with open_regular(path) as stream:
        return is_keras(stream.read(len(HDF5)))


def load_keras_weights(model: Any, path: str, by_name: bool) -> None:
    """Give a model the weights that a file of Keras holds: all of them, or, where one does not fit, none.

    See `Model.load_weights`. Files of Keras 3 have layers by their classes and places, older ones by their names in an
    order.
    """
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"load_weights: {path!r} is a file of Keras, in HDF5, for which h5py is needed: "
            'pip install "agog-training[h5]".'
        ) from None
    try:
        with open_local(path) as stream, h5py.File(hdf5_in(path, stream), "r") as file:
            group = file.get("model_weights", file)
            if "layer_names" in group.attrs:
                found = list(_by_order(model, path, group, by_name))
            elif by_name:
                raise ValueError(
                    f"load_weights: by_name=True is for older files; {path!r} is of Keras 3, which finds layers by "
                    "their classes and places."
                )
            else:
                found = list(_by_place(model, path, group))
            values = [(variable, value_of(path, variable, dataset)) for variable, dataset in found]
    except Exception as error:  # h5py raises errors of many kinds on damaged files
        if str(error).startswith("load_weights: "):
            raise
        raise DataLossError(f"load_weights: {path!r} is not a whole file of Keras: {error}.") from error
    for variable, value in values:
        variable.assign(value)


def hdf5_in(path: str, stream: BinaryIO) -> BinaryIO:
    """The HDF5 file in a stream: all of it, or what an archive holds uncompressed, as Keras writes it."""
    if stream.read(len(_ZIP)) != _ZIP:
        stream.seek(0)
        return stream
    archive = zipfile.ZipFile(stream)
    info = archive.getinfo("model.weights.h5")
    if info.compress_type != zipfile.ZIP_STORED:
        raise DataLossError(f"load_weights: {path!r} is not as Keras writes it: model.weights.h5 is compressed in it.")
    return io.BytesIO(archive.read(info))


def value_of(path: str, variable: Variable, dataset: Any) -> Any:
    if not hasattr(dataset, "is_virtual"):
        raise DataLossError(f"load_weights: {dataset.name} in {path!r} is no array.")
    if dataset.is_virtual or dataset.external:
        raise DataLossError(f"load_weights: {dataset.name} in {path!r} is in another file, which is not read.")
    if dataset.shape != variable._current()._shape or dataset.dtype.kind not in "fiub":
        raise ValueError(
            f"load_weights: {variable.name} has shape {variable.shape}; {dataset.name} in {path!r} has shape "
            f"{dataset.shape} and dtype {dataset.dtype}. The model is another than the one that was saved."
        )
    return dataset[()].astype(variable.dtype.as_numpy_dtype)


def datasets_at(file: Any, name: str) -> list[Any]:
    """The numbered datasets of a group; none if there is no such group."""
    group = _member(file, name)
    return [] if group is None else _vars(group)


def variables_in_order(model: Any, path: str, file: Any) -> list[Variable]:
    """The variables of a model in the order in which Keras 3 lists its own."""
    return list({id(found.variable): found.variable for found in _by_place(model, path, file)}.values())


# Keras 3: groups are named after attributes, and parts of lists after their classes, with numbers.


def _by_place(part: Any, path: str, group: Any) -> Iterator[Found]:
    children = dict(children_of(part))
    inside = {id(variable) for child in children.values() for variable in child.weights}
    own = [variable for variable in part.weights if id(variable) not in inside]
    places = [group] if not own or _vars(group) else [_inner(group, name, path) for name in parts_of(part)]
    datasets = [dataset for place in places for dataset in _vars(place)]
    if isinstance(part, SpectralNormalization):  # Keras has the inner layer's kernel here too
        datasets = datasets[1:]
    if len(datasets) != len(own):
        raise ValueError(
            f"load_weights: {part.name!r} has {len(own)} weights of its own; {group.name} in {path!r} has "
            f"{len(datasets)}. The model is another than the one that was saved."
        )
    yield from map(Found, own, datasets)
    for name, child in children.items():
        if child.weights:
            yield from _by_place(child, path, _inner(group, name, path))


def parts_of(part: Any) -> tuple[str, ...]:
    """The groups in a layer's that hold the weights that the layer has itself here."""
    return next((_PARTS[kind.__name__] for kind in type(part).__mro__ if kind.__name__ in _PARTS), ())


def children_of(part: Any) -> Iterator[tuple[str, Any]]:
    """The layers in a layer, with the places of their groups in the layer's."""
    parts = part.checkpoint_dependencies()
    if "_layers_in_file" in vars(part):
        parts["layers"] = part._layers_in_file
    for name, value in parts.items():
        if isinstance(value, Layer):
            yield name, value
        elif isinstance(value, (list, tuple)):
            counts: dict[str, int] = {}
            for child in value:
                if isinstance(child, Layer):
                    kind = group_name("Functional" if type(child).__name__ == "Model" else type(child).__name__)
                    count = counts[kind] = counts.get(kind, -1) + 1
                    yield f"{name}/{kind}_{count}" if count else f"{name}/{kind}", child


def group_name(kind: str) -> str:
    """The group of a layer of a class in Keras's files.

    >>> group_name("Conv2D"), group_name("LayerNormalization")
    ('conv2d', 'layer_normalization')
    """
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _vars(group: Any) -> list[Any]:
    inner = _member(group, "vars")
    members = [] if inner is None else [_member(inner, str(number)) for number in range(len(inner))]
    return [member for member in members if hasattr(member, "is_virtual")]  # datasets, and no groups


def _inner(group: Any, name: str, path: str) -> Any:
    found = group
    for part in name.split("/"):
        inner = _member(found, part)
        if inner is None:
            there = ", ".join(sorted(map(_text, found))) or "no groups"
            raise ValueError(
                f"load_weights: there is no {name!r} in {group.name} of {path!r}; there are {there}. The model is "
                "another than the one that was saved."
            )
        found = inner
    return found


def _member(group: Any, name: str) -> Any:
    """A part of a group; None if there is none, or if it is a link, which could lead out of the file."""
    import h5py

    return group[name] if isinstance(group.get(name, getlink=True), h5py.HardLink) else None


# Older files: layers in an order, with their names, and the weights of each in an order.


def _by_order(model: Any, path: str, group: Any, by_name: bool) -> Iterator[Found]:
    groups = {name: _inner(group, name, path) for name in map(_text, group.attrs["layer_names"])}
    saved = {name: [_inner(g, _text(w), path) for w in g.attrs["weight_names"]] for name, g in groups.items()}
    saved = {name: datasets for name, datasets in saved.items() if datasets}
    layers = [layer for layer in model.layers if layer.weights]
    if by_name:
        pairs = [(layer, saved[layer.name]) for layer in layers if layer.name in saved]
    elif len(layers) != len(saved):
        raise ValueError(
            f"load_weights: model {model.name!r} has {len(layers)} layers with weights; {path!r} has {len(saved)}: "
            f"{', '.join(saved)}. With by_name=True layers are found by their names."
        )
    else:
        pairs = list(zip(layers, saved.values(), strict=True))
    for layer, datasets in pairs:
        if len(datasets) != len(layer.weights):
            raise ValueError(
                f"load_weights: layer {layer.name!r} has {len(layer.weights)} weights; its group in {path!r} has "
                f"{len(datasets)}. The model is another than the one that was saved."
            )
        yield from map(Found, _in_order_of(path, layer, [_end(dataset.name) for dataset in datasets]), datasets)


def _in_order_of(path: str, layer: Any, ends: list[str]) -> list[Variable]:
    """The weights of a layer in the order in which its group names them: trained weights of a model come first, as
    Keras writes them, unless the names show an order layer by layer, or frozen layers.
    """
    unfrozen = trained_first(layer)
    now = layer.trainable_weights + layer.non_trainable_weights
    orders = (unfrozen, now, layer.weights)
    found = next((order for order in orders if [_end(variable.name) for variable in order] == ends), unfrozen)
    if found is unfrozen and sorted(ends) == sorted(ours := [_end(v.name) for v in unfrozen]) and ends != ours:
        raise ValueError(
            f"load_weights: the weights of {layer.name!r} in {path!r} are {', '.join(ends)}, and those of the model "
            f"{', '.join(ours)}: layers in it were frozen when it was saved. Set trainable of the same ones to False."
        )
    return found


def trained_first(layer: Any) -> list[Variable]:
    """The weights of a layer in Keras 2's order: those that training would change if nothing was frozen come first."""
    made = [weight for module in layer._walk(set()) for weight in module._own_weights]
    trained = {id(weight.variable) for weight in made if weight.trainable}
    return sorted(layer.weights, key=lambda variable: id(variable) not in trained)


def _end(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(":0")


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
