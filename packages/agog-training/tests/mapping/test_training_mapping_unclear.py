"""Tensors of PyTorch that may belong to several weights, or lie in several ways: the program says which and how."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Add, Conv1D, Conv2D, Dense, Input, LayerNormalization, MultiHeadAttention
from agog_testing import says
from agog_training import Model, Sequential, propose_mapping

Tree = dict[str, np.ndarray]


def random(seed: int, **shapes: tuple[int, ...]) -> Tree:
    """Tensors by keys, in which two underscores stand for a dot."""
    state = np.random.RandomState(seed)
    return {name.replace("__", "."): state.uniform(-1, 1, shape) for name, shape in shapes.items()}


def assigned(model: Any, given: Tree) -> None:
    mapping = propose_mapping(model, given)
    assert mapping.unused == []
    mapping.assign()


def test_an_order_that_contradicts_names_is_unclear() -> None:
    model = Sequential([Dense(2, input_shape=(2,), name="two"), Dense(2, name="other")], name="net")
    mapping = propose_mapping(model, random(0, z__weight=(2, 2), z__bias=(2,), two__weight=(2, 2), two__bias=(2,)))
    assert mapping.unclear == dict.fromkeys(mapping.variables, "of z or two")


def branches() -> Any:
    x = Input((2, 2, 2))
    one, two = Conv2D(2, 1, name="one"), Conv2D(2, 1, name="two")
    return Model(x, Add()([one(x), two(x)]), name="net")


def test_branches_that_look_alike_get_nothing_unasked() -> None:
    model = branches()
    given = random(0, a__weight=(2, 2, 1, 1), a__bias=(2,), b__weight=(2, 2, 1, 1), b__bias=(2,))
    mapping = propose_mapping(model, given)
    assert list(mapping) == [] == mapping.unmatched
    assert repr(mapping) == (
        "<WeightMapping\n"
        "  unclear: one/kernel: of a or b\n"
        "  unclear: one/bias: of a or b\n"
        "  unclear: two/kernel: of a or b\n"
        "  unclear: two/bias: of a or b\n"
        "  not used: a.weight, a.bias, b.weight, b.bias>"
    )
    before = model.get_weights()
    with says(
        ValueError,
        "WeightMapping: it is unclear which tensors belong to some weights; set mapping[layer] = module or "
        "mapping[name] = key, or leave weights out by mapping.variables.pop(name):\n"
        "  one/kernel: of a or b\n"
        "  one/bias: of a or b\n"
        "  two/kernel: of a or b\n"
        "  two/bias: of a or b",
    ):
        mapping.assign()
    for one, two in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    mapping["two"] = "a"
    mapping["one"] = "b"
    mapping.assign()
    np.testing.assert_array_equal(model.get_layer("two").bias.numpy(), np.float32(given["a.bias"]))
    kernel = np.float32(given["b.weight"].transpose(2, 3, 1, 0))
    np.testing.assert_array_equal(model.get_layer("one").kernel.numpy(), kernel)


def test_modules_that_do_not_fit() -> None:
    mapping = propose_mapping(branches(), random(0, a__weight=(2, 2, 1, 1), b__weight=(3, 2), b__bias=(3,)))
    assert mapping.unmatched == list(mapping.variables)
    with says(
        ValueError,
        "WeightMapping: one has kernel (1, 1, 2, 2), bias (2,); 'a' has weight (2, 2, 1, 1), which is not the same "
        "layer's.",
    ):
        mapping["one"] = "a"
    with pytest.raises(KeyError) as missing:
        mapping["one"] = "c"
    assert missing.value.args == ("WeightMapping: there is no module 'c'; there are a, b.",)


def test_a_file_in_the_order_of_the_alphabet_has_no_order() -> None:
    model = Sequential([Dense(2, use_bias=False, input_shape=(2,)), Dense(2, use_bias=False)], name="net")
    given = random(0, up__weight=(2, 2), down__weight=(2, 2))
    assert [*propose_mapping(model, given)] == [name.removesuffix(":0") for name in (v.name for v in model.weights)]
    mapping = propose_mapping(model, {key: given[key] for key in sorted(given)})
    assert set(mapping.unclear.values()) == {"of down or up"}


def matrices(*shapes: tuple[int, int]) -> Tree:
    """Matrices and biases for two inputs, five features and two outputs."""
    weights = {f"h{n}__weight": shape for n, shape in enumerate(shapes)}
    return random(0, **weights, h0__bias=(2,), h1__bias=(5,), h2__bias=(2,))


def test_matrices_that_lie_as_they_do_here() -> None:
    """The layers Conv1D of Hugging Face's GPT-2 have (in, out)."""
    model = Sequential([Dense(2, input_shape=(2,)), Dense(5), Dense(2)], name="net")
    given = random(
        0, h0__weight=(2, 2), h0__bias=(2,), h1__weight=(2, 5), h1__bias=(5,), h2__weight=(5, 2), h2__bias=(2,)
    )
    assigned(model, given)
    np.testing.assert_array_equal(model.get_weights()[0], np.float32(given["h0.weight"]))


def test_square_matrices_among_such_that_lie_either_way() -> None:
    model = Sequential([Dense(2, input_shape=(2,), name="a"), Dense(5), Dense(2)], name="net")
    given = random(
        0, h0__weight=(2, 2), h0__bias=(2,), h1__weight=(2, 5), h1__bias=(5,), h2__weight=(2, 5), h2__bias=(2,)
    )
    mapping = propose_mapping(model, given)
    assert mapping.unclear == {
        "net/a/kernel": "h0.weight: other matrices of the file lie either way, and this one is square: axes=(1, 0) or "
        "axes=(0, 1)"
    }
    with says(
        ValueError,
        "WeightMapping: net/a/kernel from h0.weight: other matrices of the file lie either way, and this one is "
        "square: axes=(1, 0) or axes=(0, 1); say so with mapping.take.",
    ):
        mapping["net/a/kernel"] = "h0.weight"
    mapping.take("net/a/kernel", "h0.weight", axes=(1, 0))
    mapping.assign()
    np.testing.assert_array_equal(model.layers[0].kernel.numpy(), np.float32(given["h0.weight"].T))
    with says(
        ValueError,
        "WeightMapping: net/a/kernel has shape (2, 2), which 'h1.weight' of shape (2, 5) has not with axes=(1, 0).",
    ):
        mapping.take("net/a/kernel", "h1.weight", axes=(1, 0))


def test_normalizations_along_several_axes() -> None:
    given = random(0, n__weight=(3, 4, 5), n__bias=(3, 4, 5))
    layer = LayerNormalization(axis=[1, 2, 3], epsilon=1e-5, name="n")
    layer(np.ones((2, 4, 5, 3), np.float32))
    assigned(layer, given)
    np.testing.assert_array_equal(layer.gamma.numpy(), np.float32(np.moveaxis(given["n.weight"], 0, -1)))
    square = LayerNormalization(axis=[1, 2], center=False, epsilon=1e-5, name="n")
    square(np.ones((2, 3, 3), np.float32))
    assert propose_mapping(square, random(0, n__weight=(3, 3))).unclear == {
        "n/gamma": "n.weight: its axes are of one size, so that channels may be in front or behind: axes=(1, 0) or "
        "axes=(0, 1)"
    }


def test_features_of_unknown_order() -> None:
    class Net(Model):
        def __init__(self) -> None:
            super().__init__(name="net")
            self.conv, self.fc = Conv2D(3, 1), Dense(2, name="fc")

        def call(self, x: Any) -> Any:
            y = ag.transpose(self.conv(x), (0, 2, 1, 3))  # neither order
            return self.fc(ag.reshape(y, (x.shape[0], -1)))

    model = Net()
    model(np.ones((1, 2, 2, 3), np.float32))
    given = random(0, conv__weight=(3, 3, 1, 1), conv__bias=(3,), fc__weight=(2, 12), fc__bias=(2,))
    mapping = propose_mapping(model, given)
    assert mapping.unclear == {
        "net/fc/kernel": "fc.weight: its features may be images that were flattened, with the channels in front in "
        "PyTorch: flattened=(height, width, channels), or flattened=() if not"
    }
    (name,) = mapping.unclear
    mapping.take(name, "fc.weight", flattened=())
    mapping.assign()
    np.testing.assert_array_equal(model.fc.kernel.numpy(), np.float32(given["fc.weight"].T))
    mapping.take(name, "fc.weight", flattened=(2, 2, 3))
    mapping.assign()
    expected = given["fc.weight"].reshape(2, 3, 2, 2).transpose(2, 3, 1, 0).reshape(12, 2)
    np.testing.assert_array_equal(model.fc.kernel.numpy(), np.float32(expected))
    with says(ValueError, f"WeightMapping: {name} has 12 features along its first axis; flattened=(2, 2, 4) are 16."):
        mapping.take(name, "fc.weight", flattened=(2, 2, 4))


def test_a_spectral_norm_along_either_of_two_axes_is_unclear() -> None:
    model = Sequential([Conv2D(2, 1, input_shape=(2, 2, 2), name="conv")], name="net")
    given = {"c.weight_orig": np.ones((2, 2, 1, 1)), "c.weight_u": np.ones(2), "c.weight_v": np.ones(2)}
    mapping = propose_mapping(model, {**given, "c.bias": np.zeros(2)})
    assert mapping.unclear == {
        "net/conv/kernel": "c.weight: its spectral norm may be along either of two axes of one size: give "
        "propose_mapping the weight itself, as torch.nn.utils.parametrize.remove_parametrizations leaves it"
    }
    assert list(mapping) == ["net/conv/bias"]


def test_matrices_that_look_alike_are_unclear_for_convolutions_too() -> None:
    x = Input((2, 2))
    model = Model(x, Add()([Conv1D(2, 1, name="one")(x), Conv1D(2, 1, name="two")(x)]), name="net")
    mapping = propose_mapping(model, random(0, a__weight=(2, 2), a__bias=(2,), b__weight=(2, 2), b__bias=(2,)))
    assert mapping.unclear == dict.fromkeys(mapping.variables, "of a or b")
    mapping["one"], mapping["two"] = "b", "a"
    assert (mapping["one/kernel"], mapping["two/bias"]) == ("b.weight", "a.bias")


def test_projections_that_no_program_names_so_are_unclear() -> None:
    layer = MultiHeadAttention(2, 2, name="attend")
    layer(np.zeros((1, 3, 4), np.float32))
    names = ("a", "b", "c", "d")
    given = random(0, **{f"{name}__{leaf}": (4,) * n for name in names for leaf, n in (("weight", 2), ("bias", 1))})
    mapping = propose_mapping(layer, given)
    assert list(mapping) == [] == list(mapping.unclear)
    assert mapping.unmatched == list(mapping.variables)
    for role, name in zip(("query", "key", "value", "attention_output"), names, strict=True):
        for leaf, ours in (("weight", "kernel"), ("bias", "bias")):
            mapping[f"attend/{role}/{ours}"] = f"{name}.{leaf}"
    mapping.assign()
    np.testing.assert_array_equal(layer.key_kernel.numpy(), np.float32(given["b.weight"].T.reshape(4, 2, 2)))
    np.testing.assert_array_equal(layer.key_bias.numpy(), np.float32(given["b.bias"].reshape(2, 2)))
