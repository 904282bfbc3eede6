"""Mappings of other programs' weights, proposed and corrected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_checkpoint import Checkpoint
from agog_core import Variable
from agog_layers import BatchNormalization, Conv2D, Dense, Embedding, Flatten
from agog_testing import says
from agog_training import Sequential, propose_mapping

random = np.random.RandomState(0)


def tensors(**shapes: tuple[int, ...]) -> dict[str, Any]:
    return {name.replace("__", "."): np.float32(random.rand(*shape)) for name, shape in shapes.items()}


def network() -> Sequential:
    layers = [
        Conv2D(4, 3, name="stem", input_shape=(8, 8, 3)),
        BatchNormalization(epsilon=1e-5, name="norm"),
        Flatten(),
    ]
    return Sequential([*layers, Dense(6, name="fc1"), Dense(6, name="fc2"), Dense(6, name="head")], name="net")


def test_a_network_of_pytorch() -> None:
    model = network()
    given = tensors(
        stem__weight=(4, 3, 3, 3), stem__bias=(4,), norm__weight=(4,), norm__bias=(4,), norm__running_mean=(4,),
        norm__running_var=(4,), norm__num_batches_tracked=(), fc1__weight=(6, 144), fc1__bias=(6,), fc2__weight=(6, 6),
        fc2__bias=(6,), head__weight=(6, 6), head__bias=(6,),
    )  # fmt: skip
    mapping = propose_mapping(model, given)
    assert {name: mapping[name] for name in mapping} == {
        "net/stem/kernel": "stem.weight",
        "net/stem/bias": "stem.bias",
        "net/norm/gamma": "norm.weight",
        "net/norm/beta": "norm.bias",
        "net/norm/moving_mean": "norm.running_mean",
        "net/norm/moving_variance": "norm.running_var",
        "net/fc1/kernel": "fc1.weight",
        "net/fc1/bias": "fc1.bias",
        "net/fc2/kernel": "fc2.weight",
        "net/fc2/bias": "fc2.bias",
        "net/head/kernel": "head.weight",
        "net/head/bias": "head.bias",
    }
    assert mapping.unmatched == []
    assert mapping.unused == ["norm.num_batches_tracked"]
    # A square matrix lies as the others of the file do.
    assert mapping.axes("net/fc2/kernel") == (1, 0)
    assert mapping.axes("net/stem/kernel") == (2, 3, 1, 0)
    mapping.assign()
    weights = {variable.name: variable.numpy() for variable in model.weights}
    np.testing.assert_array_equal(weights["net/fc2/kernel:0"], given["fc2.weight"].T)
    np.testing.assert_array_equal(weights["net/stem/kernel:0"], given["stem.weight"].transpose(2, 3, 1, 0))
    np.testing.assert_array_equal(weights["net/norm/moving_variance:0"], given["norm.running_var"])


def test_names_that_say_nothing_go_by_the_order() -> None:
    model = Sequential([Dense(3, input_shape=(3,)), Dense(3), Dense(3)], name="net")
    given = tensors(**{f"h__{n}__weight": (3, 3) for n in range(3)}, **{f"h__{n}__bias": (3,) for n in range(3)})
    mapping = propose_mapping(model, given)
    kernels = [name for name in mapping if name.endswith("kernel")]
    assert [mapping[name] for name in kernels] == ["h.0.weight", "h.1.weight", "h.2.weight"]


def test_a_file_of_the_same_layout_is_not_turned(tmp_path: Path) -> None:
    model = Sequential([Embedding(7, 5, input_shape=(2,)), Dense(5), Dense(2)], name="net")
    model(np.zeros((1, 2), "int32"))
    values = tensors(a=(7, 5), b=(5, 5), c=(5,), d=(5, 2), e=(2,))
    names = {"emb/embeddings": "a", "one/kernel": "b", "one/bias": "c", "two/kernel": "d", "two/bias": "e"}
    parts: dict[str, Any] = {}
    for name, key in names.items():
        layer, weight = name.split("/")
        parts.setdefault(layer, {})[weight] = Variable(values[key])
    path = Checkpoint(**parts).write(tmp_path / "w")
    mapping = propose_mapping(model, f"{path}.safetensors")
    mapping.assign()
    for variable, key in zip(model.weights, "abcde", strict=True):
        np.testing.assert_array_equal(variable.numpy(), values[key])


def test_a_proposal_is_corrected() -> None:
    model = Sequential([Dense(3, input_shape=(2,), name="a"), Dense(3, name="b")], name="net")
    given = tensors(x__weight=(3, 2), y__weight=(3, 3), x__bias=(3,), y__bias=(3,))
    mapping = propose_mapping(model, given)
    mapping["net/a/bias"] = None
    assert mapping.unmatched == ["net/a/bias"]
    with says(
        ValueError,
        "WeightMapping: there is no tensor for net/a/bias; set mapping[name] = key, or leave weights out by "
        "mapping.variables.pop(name).",
    ):
        mapping.assign()
    mapping["net/b/bias"] = "x.bias"
    mapping["net/a/bias"] = "y.bias"
    mapping.assign()
    np.testing.assert_array_equal(model.layers[0].get_weights()[1], given["y.bias"])
    with says(
        ValueError,
        "WeightMapping: net/a/kernel has shape (2, 3), which 'y.weight' of shape (3, 3) has in no order of axes.",
    ):
        mapping["net/a/kernel"] = "y.weight"
    with pytest.raises(KeyError) as missing:
        mapping["net/a/kernel"] = "z"
    assert missing.value.args == (
        "WeightMapping: there is no tensor 'z'; there are x.weight, y.weight, x.bias, y.bias.",
    )
    with pytest.raises(KeyError) as missing:
        mapping["c"] = "x.bias"
    assert missing.value.args == (
        "WeightMapping: there is no weight 'c'; there are net/a/kernel, net/a/bias, net/b/kernel, net/b/bias.",
    )


def test_the_table_names_what_is_left() -> None:
    model = Sequential([Dense(3, input_shape=(2,), name="a")], name="net")
    mapping = propose_mapping(model, tensors(a__weight=(3, 2), a__bias=(3,), more=(9,)))
    mapping["net/a/bias"] = None
    assert repr(mapping) == (
        "<WeightMapping\n"
        "  net/a/kernel  (2, 3)  a.weight  axes (1, 0)\n"
        "  without a tensor: net/a/bias\n"
        "  not used: a.bias, more>"
    )


def test_a_model_without_weights() -> None:
    with says(
        ValueError,
        "propose_mapping: 'net' has no weights, since it was not built: call it on a batch, or call "
        "build(input_shape).",
    ):
        propose_mapping(Sequential([Dense(2)], name="net"), {})
