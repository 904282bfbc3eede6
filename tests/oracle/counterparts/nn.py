"""Nn: counterparts of activations, softmax, losses, normalization and recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as nn
from counterparts.conv import convolution, fits
from counterparts.counterpart import Counterpart, axes_of, gradients_of, has_elements

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def log_softmax_grad(gradients: Any, log_softmax: Any, axis: int = -1) -> Any:
    return gradients - torch.exp(log_softmax) * gradients.sum(axis, keepdim=True)


def softmax_grad(gradients: Any, softmax: Any, axis: int = -1) -> Any:
    return softmax * (gradients - (gradients * softmax).sum(axis, keepdim=True))


def gelu(features: Any, approximate: bool = False) -> Any:
    return nn.gelu(features, approximate="tanh" if approximate else "none")


def gelu_grad(gradients: Any, features: Any, approximate: bool = False) -> Any:
    return gradients_of(lambda x: (gelu(x, approximate),), (features,), (gradients,))[0]


ACTIVATIONS = {
    "hard_sigmoid": lambda x: torch.clamp(0.2 * x + 0.5, 0, 1),
    "linear": lambda x: x,
    "relu": torch.relu,
    "relu6": nn.relu6,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def matmul_bias(a: Any, b: Any, bias: Any, activation: str = "linear") -> Any:
    return ACTIVATIONS[activation](a @ b + bias)


def convolution_bias(input: Any, filter: Any, bias: Any, *form: Any, activation: str = "linear") -> Any:
    return ACTIVATIONS[activation](convolution(input, filter, *form) + bias)


def slope(gradients: Any, outputs: Any, activation: str) -> Any:
    """The gradient before an activation, by its result."""
    if activation in ("relu", "relu6"):
        return gradients * ((outputs > 0) & ((outputs < 6) | (activation == "relu")))
    kinds = {"linear": lambda y: 1, "sigmoid": lambda y: y * (1 - y), "tanh": lambda y: 1 - y * y}
    return gradients * kinds[activation](outputs)


def matmul_bias_grad(
    gradients: Any, a: Any, b: Any, outputs: Any, activation: str = "linear", sources: Any = ("a", "b", "bias")
) -> Any:
    g = slope(gradients, outputs, activation)
    found = {"a": g @ b.T, "b": a.T @ g, "bias": g.sum(0)}
    return tuple(found[source] for source in sources)


def convolution_bias_grad(
    gradients: Any,
    input: Any,
    filter: Any,
    outputs: Any,
    *form: Any,
    activation: str = "linear",
    sources: Any = ("input", "filter", "bias"),
) -> Any:
    g = slope(gradients, outputs, activation)
    of_input, of_filter = gradients_of(lambda x, f: (convolution(x, f, *form),), (input, filter), (g,))
    found = {"input": of_input, "filter": of_filter, "bias": g.sum(tuple(range(g.ndim - 1)))}
    return tuple(found[source] for source in sources)


def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    rows = logits.reshape(-1, logits.shape[-1])
    return nn.cross_entropy(rows, labels.reshape(-1), reduction="none").reshape(labels.shape)


def sparse_softmax_cross_entropy_grad(gradients: Any, labels: Any, logits: Any) -> Any:
    hot = nn.one_hot(labels, logits.shape[-1])
    return (torch.softmax(logits, -1) - hot) * gradients.unsqueeze(-1)


def ctc_loss(labels: Any, logits: Any, sequence_length: Any) -> Any:
    lengths, counts = sequence_length, (labels >= 0).sum(1)
    log_probabilities = torch.log_softmax(logits, -1)
    return nn.ctc_loss(
        log_probabilities, labels.clamp(min=0), lengths, counts, blank=logits.shape[-1] - 1, reduction="none"
    )


def ctc_loss_grad(gradients: Any, labels: Any, logits: Any, sequence_length: Any) -> Any:
    x = logits.detach().clone()
    with torch.enable_grad():
        x.requires_grad_()
        (gradient,) = torch.autograd.grad(ctc_loss(labels, x, sequence_length).sum(), x)
    return gradient * gradients.reshape(1, -1, 1)


def alignments(sample: Any) -> bool:
    labels, _, lengths = sample.args[-3:]
    return sample.kwargs.get("merge_repeated", True) and labels.size > 0 and min(lengths) > 0


CTC_TWICE = "PyTorch: the derivative of ctc_loss's backward is not implemented"


# Recurrent layers are written step by step: PyTorch's own know no masks and no other activations.
def lstm(
    x: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    hidden: Any,
    cell: Any,
    mask: Any = None,
    activation: str = "tanh",
    recurrent_activation: str = "sigmoid",
) -> Any:
    act, gate = ACTIVATIONS[activation], ACTIVATIONS[recurrent_activation]
    states = []
    for n, row in enumerate(x):
        i, f, c, o = torch.chunk(row @ kernel + hidden @ recurrent_kernel + bias, 4, dim=1)
        new_cell = gate(f) * cell + gate(i) * act(c)
        new_hidden = gate(o) * act(new_cell)
        kept = None if mask is None else mask[n].unsqueeze(1)
        cell = new_cell if kept is None else torch.where(kept, new_cell, cell)
        hidden = new_hidden if kept is None else torch.where(kept, new_hidden, hidden)
        states.append(hidden)
    return stacked(states, x, hidden), hidden, cell


def gru(
    x: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    hidden: Any,
    mask: Any = None,
    activation: str = "tanh",
    recurrent_activation: str = "sigmoid",
    reset_after: bool = False,
) -> Any:
    act, gate = ACTIVATIONS[activation], ACTIVATIONS[recurrent_activation]
    before, behind = bias if reset_after else (bias, torch.zeros_like(bias))
    update, reset, candidate = torch.chunk(recurrent_kernel, 3, dim=1)
    more = torch.chunk(behind, 3)
    states = []
    for n, row in enumerate(x):
        of_update, of_reset, of_candidate = torch.chunk(row @ kernel + before, 3, dim=1)
        z = gate(of_update + hidden @ update + more[0])
        r = gate(of_reset + hidden @ reset + more[1])
        past = r * (hidden @ candidate + more[2]) if reset_after else (r * hidden) @ candidate
        new = z * hidden + (1 - z) * act(of_candidate + past)
        hidden = new if mask is None else torch.where(mask[n].unsqueeze(1), new, hidden)
        states.append(hidden)
    return stacked(states, x, hidden), hidden


def stacked(states: Sequence[Any], x: Any, hidden: Any) -> Any:
    return torch.stack(list(states)) if states else x.new_zeros((0, *hidden.shape))


_SOURCES = ("x", "kernel", "recurrent_kernel", "bias", "initial_hidden", "initial_cell")


def lstm_grad(
    hidden_gradients: Any, cell_gradients: Any, *inputs: Any, sources: Any = _SOURCES, **settings: Any
) -> Any:
    tensors, mask = inputs[:6], inputs[6:]

    def function(*tensors: Any) -> Any:
        hidden, _, cell = lstm(*tensors, *mask, **settings)
        return hidden, cell

    return _some(gradients_of(function, tensors, (hidden_gradients, cell_gradients)), sources)


def gru_grad(gradients: Any, *inputs: Any, sources: Any = _SOURCES, **settings: Any) -> Any:
    tensors, mask = inputs[:5], inputs[5:]
    return _some(gradients_of(lambda *each: gru(*each, *mask, **settings)[:1], tensors, (gradients,)), sources)


def _some(found: Any, sources: Any) -> Any:
    return tuple(each for name, each in zip(_SOURCES, found, strict=False) if name in sources)


def neighbor_sum(x: Any, radius: int) -> Any:
    return nn.pad(x, (radius, radius)).unfold(-1, 2 * radius + 1, 1).sum(-1)


def standardize(x: Any, axes: Any, epsilon: float = 1e-3) -> Any:
    listed = axes_of(x, axes)
    mean = torch.mean(x, listed, keepdim=True)
    variance = torch.mean((x - mean) ** 2, listed, keepdim=True)
    return (x - mean) / torch.sqrt(variance + epsilon), mean, variance


def standardize_grad(gradients: Any, standardized: Any, variance: Any, axes: Any, epsilon: float = 1e-3) -> Any:
    """The gradient of the layer as the literature writes it (Ioffe and Szegedy, 2015, section 3)."""
    listed = axes_of(gradients, axes)
    mean = gradients.mean(listed, keepdim=True)
    slope = (gradients * standardized).mean(listed, keepdim=True)
    return (gradients - mean - standardized * slope) * torch.rsqrt(variance + epsilon)


def standardize_affine(x: Any, scale: Any, offset: Any, axes: Any, epsilon: float = 1e-3) -> Any:
    standardized, mean, variance = standardize(x, axes, epsilon)
    return standardized * scale + offset, mean, variance


def standardize_affine_grad(
    gradients: Any, x: Any, scale: Any, mean: Any, variance: Any, axes: Any, epsilon: float = 1e-3
) -> Any:
    standardized = (x - mean) * torch.rsqrt(variance + epsilon)
    of_x = standardize_grad(gradients * scale, standardized, variance, axes, epsilon)
    return of_x, (gradients * standardized).sum_to_size(scale.shape), gradients.sum_to_size(scale.shape)


def dot_product_attention(
    query: Any, key: Any, value: Any, mask: Any = None, factor: Any = None, is_causal: bool = False
) -> Any:
    """PyTorch's, with one mask: it takes none beside a causal one."""
    if is_causal:
        past = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
        unseen = torch.zeros(past.shape, dtype=query.dtype).masked_fill(~past, float("-inf"))
        mask = unseen if mask is None else mask + unseen
    return nn.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=factor)


def dot_product_attention_grad(
    gradients: Any,
    query: Any,
    key: Any,
    value: Any,
    *mask: Any,
    sources: Any = ("query", "key", "value"),
    **form: Any,
) -> Any:
    tensors = query, key, value
    settings = {"factor": 1.0, **form}
    found = gradients_of(lambda *each: (dot_product_attention(*each, *mask, **settings),), tensors, (gradients,))
    return tuple(part for name, part in zip(("query", "key", "value"), found, strict=True) if name in sources)


COUNTERPARTS = {
    "convolution_bias": Counterpart(convolution_bias, covers=fits),
    "convolution_bias_grad": Counterpart(convolution_bias_grad, covers=fits),
    "ctc_loss": Counterpart(ctc_loss, covers=alignments, once=CTC_TWICE),
    "ctc_loss_grad": Counterpart(ctc_loss_grad, covers=alignments, without=("logits",)),
    "dot_product_attention": dot_product_attention,
    "dot_product_attention_grad": dot_product_attention_grad,
    "dropout_grad": lambda gradients, mask, keep: gradients / keep * mask,
    "elu": nn.elu,
    "elu_grad": lambda gradients, outputs: torch.where(outputs < 0, gradients * (outputs + 1), gradients),
    "gelu": gelu,
    "gelu_grad": gelu_grad,
    "gru": gru,
    "gru_grad": gru_grad,
    "l2_loss": lambda t: torch.sum(t * t) / 2,
    # TensorFlow's is the larger of x and alpha * x, also where alpha is larger than 1.
    "leaky_relu": lambda features, alpha=0.2: torch.maximum(features, alpha * features),
    "leaky_relu_grad": lambda gradients, features, alpha=0.2: torch.where(
        (features > 0) == (alpha <= 1), gradients, alpha * gradients
    ),
    "log_softmax": lambda logits, axis=-1: torch.log_softmax(logits, axis),
    "log_softmax_grad": log_softmax_grad,
    "lstm": lstm,
    "lstm_grad": lstm_grad,
    "matmul_bias": matmul_bias,
    "matmul_bias_grad": matmul_bias_grad,
    "neighbor_sum": Counterpart(neighbor_sum, covers=has_elements),
    "relu": torch.relu,
    "relu6": nn.relu6,
    "relu6_grad": lambda gradients, features: gradients * ((features > 0) & (features < 6)),
    "relu_grad": lambda gradients, features: torch.where(features > 0, gradients, 0),
    "selu": nn.selu,
    "selu_grad": lambda gradients, outputs: (
        gradients * torch.where(outputs < 0, outputs + SELU_SCALE * SELU_ALPHA, SELU_SCALE)
    ),
    "sigmoid_cross_entropy": lambda labels, logits: nn.binary_cross_entropy_with_logits(
        *torch.broadcast_tensors(logits, labels), reduction="none"
    ),
    "softmax": lambda logits, axis=-1: torch.softmax(logits, axis),
    "softmax_cross_entropy": lambda labels, logits, axis=-1: -(labels * torch.log_softmax(logits, axis)).sum(axis),
    "softmax_cross_entropy_grad": lambda gradients, labels, logits, axis=-1: (
        (torch.softmax(logits, axis) * labels.sum(axis, keepdim=True) - labels) * gradients.unsqueeze(axis)
    ),
    "softmax_grad": softmax_grad,
    "softsign": nn.softsign,
    "sparse_softmax_cross_entropy": sparse_softmax_cross_entropy,
    "sparse_softmax_cross_entropy_grad": sparse_softmax_cross_entropy_grad,
    "standardize": standardize,
    "standardize_affine": standardize_affine,
    "standardize_affine_grad": standardize_affine_grad,
    "standardize_grad": standardize_grad,
    "swish": nn.silu,
}

NO_COUNTERPART = dict.fromkeys(("ctc_beam_search_decoder", "ctc_greedy_decoder"), "PyTorch decodes no sequences")
