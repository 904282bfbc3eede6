"""Habits: attributes that programmers of PyTorch, NumPy and TensorFlow 2 expect of tensors, variables, layers and
datasets. Cheap ones work, others raise an error with advice.
"""

from __future__ import annotations

from typing import Any, NoReturn

from agog_core import Checkpointable, Tensor, Variable, stop_gradient
from agog_core.named_tuple import Named

__all__ = [
    "METHODS",
    "OF_DATASETS",
    "OF_GENERATORS",
    "OF_LAYERS",
    "OF_MODELS",
    "OF_OPTIMIZERS",
    "OF_VARIABLES",
    "SAID_INSTEAD",
    "teach",
]

# The methods that there are not, and what to write instead; x is the tensor.
SAID_INSTEAD = {
    "abs": "tf.abs(x)",
    "add": "x + y, or tf.add(x, y)",
    "add_": "v.assign_add(...) on a tf.Variable; tensors never change",
    "all": "tf.reduce_all(x, axis)",
    "any": "tf.reduce_any(x, axis)",
    "argmax": "tf.argmax(x, axis)",
    "argmin": "tf.argmin(x, axis)",
    "astype": "tf.cast(x, dtype)",
    "backward": "a tf.GradientTape: with tf.GradientTape() as tape: ..., and then tape.gradient(loss, variables)",
    "bmm": "x @ y, or tf.matmul(x, y)",
    "bool": "tf.cast(x, tf.bool)",
    "chunk": "tf.split(x, n, axis)",
    "clamp": "tf.clip_by_value(x, low, high)",
    "clip": "tf.clip_by_value(x, low, high)",
    "clone": "x itself; tensors never change",
    "contiguous": "x itself; its array is what kernels need",
    "copy": "x itself; tensors never change",
    "copy_": "v.assign(...) on a tf.Variable; tensors never change",
    "cuda": "x.gpu(), or with tf.device('/gpu:0')",
    "cumsum": "tf.cumsum(x, axis)",
    "data": "x itself; tf.stop_gradient(x) lets no gradient through",
    "dim": "x.ndim",
    "div": "x / y",
    "dot": "tf.tensordot(x, y, 1), or x @ y",
    "double": "tf.cast(x, tf.float64)",
    "eq": "tf.equal(x, y)",
    "exp": "tf.exp(x)",
    "expand": "tf.broadcast_to(x, shape)",
    "fill_": "v.assign(...) on a tf.Variable; tensors never change",
    "flatten": "tf.reshape(x, [-1])",
    "float": "tf.cast(x, tf.float32)",
    "gather": "tf.gather(x, indices, axis=axis)",
    "ge": "x >= y",
    "grad": "tape.gradient(loss, x), of the tf.GradientTape that recorded the loss",
    "grad_fn": "tape.summary(), of the tf.GradientTape that records",
    "gt": "x > y",
    "half": "tf.cast(x, tf.float16)",
    "int": "tf.cast(x, tf.int32)",
    "is_contiguous": "x itself; its array is what kernels need",
    "is_cuda": "x.device",
    "is_leaf": "tape.watched_variables()",
    "le": "x <= y",
    "log": "tf.log(x)",
    "long": "tf.cast(x, tf.int64)",
    "lt": "x < y",
    "masked_fill": "tf.where(mask, value, x)",
    "matmul": "x @ y, or tf.matmul(x, y)",
    "max": "tf.reduce_max(x, axis)",
    "mean": "tf.reduce_mean(x, axis)",
    "min": "tf.reduce_min(x, axis)",
    "mm": "x @ y, or tf.matmul(x, y)",
    "mul": "x * y",
    "mul_": "v.assign(v * ...) on a tf.Variable; tensors never change",
    "ne": "tf.not_equal(x, y)",
    "new_ones": "tf.ones(shape, x.dtype)",
    "new_zeros": "tf.zeros(shape, x.dtype)",
    "nonzero": "tf.where(x)",
    "norm": "tf.norm(x)",
    "numel": "x.size",
    "permute": "tf.transpose(x, perm)",
    "pow": "x ** y, or tf.pow(x, y)",
    "prod": "tf.reduce_prod(x, axis)",
    "ravel": "tf.reshape(x, [-1])",
    "ref": "x itself: in dicts and sets, tensors and variables count by identity",
    "register_hook": "tf.custom_gradient",
    "relu": "tf.nn.relu(x)",
    "repeat": "tf.tile(x, multiples), or tf.repeat(x, repeats, axis) for each element",
    "requires_grad": "tape.watch(x); a tf.Variable is watched as it is",
    "requires_grad_": "tape.watch(x); a tf.Variable is watched as it is",
    "reshape": "tf.reshape(x, shape)",
    "retain_grad": "tape.gradient(loss, x), for any x that the tape watches",
    "round": "tf.round(x)",
    "scatter_": "tf.tensor_scatter_nd_update(x, indices, updates)",
    "sigmoid": "tf.sigmoid(x)",
    "softmax": "tf.nn.softmax(x, axis)",
    "sort": "tf.sort(x, axis)",
    "split": "tf.split(x, sizes, axis)",
    "sqrt": "tf.sqrt(x)",
    "squeeze": "tf.squeeze(x, axis)",
    "std": "tf.math.reduce_std(x, axis)",
    "storage": "x.numpy()",
    "sub": "x - y",
    "sub_": "v.assign_sub(...) on a tf.Variable; tensors never change",
    "sum": "tf.reduce_sum(x, axis)",
    "swapaxes": "tf.transpose(x, perm)",
    "t": "tf.transpose(x)",
    "tanh": "tf.tanh(x)",
    "to": "tf.cast(x, dtype) for a dtype, and x.gpu() or x.cpu() for a device",
    "topk": "tf.nn.top_k(x, k)",
    "transpose": "tf.transpose(x, perm)",
    "type": "x.dtype, and tf.cast(x, dtype)",
    "unbind": "tf.unstack(x, axis=axis)",
    "unsqueeze": "tf.expand_dims(x, axis)",
    "var": "tf.math.reduce_variance(x, axis)",
    "view": "tf.reshape(x, shape)",
    "zero_": "v.assign(tf.zeros_like(v)) on a tf.Variable; tensors never change",
}

# The same for layers and models; m is the model.
OF_LAYERS = {
    "children": "m.layers",
    "cuda": "with tf.device('/gpu:0') where the layer is first called",
    "eval": "m(x, training=False)",
    "forward": "call: def call(self, x), and m(x)",
    "load_state_dict": "m.load_weights(path), or m.set_weights(arrays)",
    "modules": "m.layers",
    "named_parameters": "m.trainable_variables, each of which has a name",
    "parameters": "m.trainable_variables",
    "requires_grad_": "m.trainable = False, or True",
    "state_dict": "m.save_weights(path), or m.get_weights()",
    "to": "with tf.device(name) where the layer is first called",
    "train": "m(x, training=True), or m.fit",
    "zero_grad": "a new tf.GradientTape; gradients are returned, and add up nowhere",
}
# The same for models.
OF_MODELS = {
    "add_metric": "compile(metrics=[...]), or a metric in an attribute that train_step updates",
    "export": "m.save(path) and tf.keras.models.load_model(path)",
    "get_compile_config": "m.save(path), which keeps what compile was told",
    "make_predict_function": "predict_step, or @tf.function around a call of the model",
    "make_test_function": "test_step, or @tf.function around a step of your own",
    "make_train_function": "train_step, or @tf.function around a step of your own",
    "quantize": "dtype='float16' or 'bfloat16' of layers, for smaller weights",
    "run_eagerly": "tf.config.run_functions_eagerly(True); steps run eagerly unless compile gets jit_compile=True",
    "stateless_call": "m(x); its variables may change",
    "to_yaml": "m.to_json()",
}
# The same for variables.
OF_VARIABLES = {
    "aggregation": "v itself: there is one copy of it",
    "batch_scatter_update": "v.scatter_nd_update(indices, updates)",
    "eval": "v.numpy()",
    "gather_nd": "tf.gather_nd(v, indices)",
    "graph": "v itself; there are no graphs",
    "handle": "v itself",
    "is_initialized": "v itself: a variable always has a value",
    "op": "v itself; its name is v.name",
    "synchronization": "v itself: there is one copy of it",
}
# The same for datasets.
OF_DATASETS = {
    "fingerprint": "a name of your own, such as that of a file for cache(filename)",
    "load": "tf.data.Dataset.cache(filename), or tf.data.TFRecordDataset",
    "options": "dataset itself: pipelines need no options",
    "ragged_batch": "padded_batch(batch_size)",
    "random": "tf.data.experimental.RandomDataset(seed)",
    "rebatch": "unbatch().batch(batch_size)",
    "save": "cache(filename), or tf.data.experimental.TFRecordWriter(path).write(dataset)",
    "snapshot": "cache(filename)",
    "sparse_batch": "padded_batch(batch_size)",
    "with_options": "dataset itself: pipelines need no options",
}
# The same for generators of random numbers.
OF_GENERATORS = {
    "from_key_counter": "tf.random.Generator(seed)",
    "from_non_deterministic_state": "tf.random.Generator()",
    "from_seed": "tf.random.Generator(seed)",
    "from_state": "tf.random.Generator(seed), and its set_state",
    "make_seeds": "tf.random.stateless_uniform([2, n], seed, minval=None, maxval=None, dtype=tf.int32)",
    "normal": "tf.random.set_generator(g), and tf.random.normal(shape)",
    "reset_from_seed": "tf.random.Generator(seed)",
    "split": "a tf.random.Generator(seed) for each",
    "truncated_normal": "tf.random.set_generator(g), and tf.random.truncated_normal(shape)",
    "uniform": "tf.random.set_generator(g), and tf.random.uniform(shape)",
}
# The same for optimizers.
OF_OPTIMIZERS = {
    "get_weights": "[v.numpy() for v in optimizer.variables()]",
    "load_state_dict": "tf.train.Checkpoint(optimizer=optimizer).restore(path)",
    "param_groups": "optimizer.learning_rate",
    "set_weights": "tf.train.Checkpoint(optimizer=optimizer), or v.assign(...) of optimizer.variables()",
    "state_dict": "tf.train.Checkpoint(optimizer=optimizer).save(path), or optimizer.variables()",
    "step": "optimizer.apply_gradients(zip(gradients, variables)), or optimizer.minimize(loss)",
    "weights": "optimizer.variables()",
    "zero_grad": "a new tf.GradientTape; gradients are returned, and add up nowhere",
}


class Lesson:
    """An attribute that is not there, so that NumPy and others that ask for it go their own way: its error teaches.

    >>> from agog_core import ones
    >>> hasattr(ones([2]), "sum")
    False
    """

    def __init__(self, name: str, said_instead: str) -> None:
        self._name, self._said_instead = name, said_instead

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__}.{self._name}: not in agog; use {self._said_instead}")


def teach(kind: type, said_instead: dict[str, str]) -> None:
    """Give a class lessons: names that it has not, to what to write instead."""
    known = set(dir(kind))  # once, for it takes long
    for name in said_instead.keys() - known:
        setattr(kind, name, Lesson(name, said_instead[name]))


def item(self: Any) -> Any:
    """The value of a tensor of one element, as a Python number, bool or bytes.

    >>> from agog_core import constant
    >>> constant([[3]]).item()
    3
    """
    if self.shape.num_elements() != 1:
        raise ValueError(f"item: the tensor must have one element; got shape {self.shape}. Use x.tolist().")
    value = self.numpy()
    return value if isinstance(value, bytes) else value.item()


def tolist(self: Any) -> Any:
    """The values of a tensor, as nested lists of Python numbers.

    >>> from agog_core import constant
    >>> constant([[1, 2]]).tolist()
    [[1, 2]]
    """
    value = self.numpy()
    return value if isinstance(value, bytes) else value.tolist()


def detach(self: Any) -> Tensor:
    """The same value, which no gradient flows through: see `stop_gradient`.

    >>> from agog_core import constant
    >>> constant(3).detach().numpy()
    np.int32(3)
    """
    return stop_gradient(self)


class CheckpointableReference(Named):
    """A part of an object, as TensorFlow's own lists of parts have it."""

    name: str
    ref: Any


def _checkpoint_dependencies(self: Checkpointable) -> list[CheckpointableReference]:
    """The parts, for programs that look for them where TensorFlow has them."""
    return [CheckpointableReference(*part) for part in self.checkpoint_dependencies().items()]


Checkpointable._checkpoint_dependencies = property(_checkpoint_dependencies)  # type: ignore[attr-defined]
Checkpointable._lookup_dependency = Checkpointable.checkpoint_dependency  # type: ignore[attr-defined]

METHODS = {"detach": detach, "item": item, "tolist": tolist}

for _kind in (Tensor, Variable):
    for _name, _method in METHODS.items():
        if not hasattr(_kind, _name):
            setattr(_kind, _name, _method)
    teach(_kind, SAID_INSTEAD)
teach(Variable, OF_VARIABLES)
