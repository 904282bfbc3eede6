"""Aliases: the names in agog of parts that TensorFlow and Keras name otherwise."""

from __future__ import annotations

from agog_checkpoint.graph import Node

# What a part is called in a checkpoint, and in agog.
_OTHER_NAMES = {
    "adapt_mean": "mean",
    "adapt_variance": "variance",
    "iter": "iterations",
    "kernel": "depthwise_kernel",  # of DepthwiseConv2D in Keras 3
}
# The layers inside of MultiHeadAttention, whose weights it has itself in agog.
_PROJECTIONS = {
    "_query_dense": "query",
    "_key_dense": "key",
    "_value_dense": "value",
    "_output_dense": "attention_output",
}


def add_aliases(nodes: list[Node]) -> None:
    """Give the parts of all nodes the names of agog, beside those that they have."""
    for node in list(nodes):
        children = node.children
        if "recurrent_kernel" in children:  # a layer of CuDNN has the weights of its cell
            _add(node, "cell", len(nodes))
            nodes.append(Node(dict(children)))
        for name, child in list(children.items()):
            if name.startswith("_"):
                _add(node, name.lstrip("_"), child)
            if name in _OTHER_NAMES:
                _add(node, _OTHER_NAMES[name], child)
            if name in _PROJECTIONS:
                for part, weight in list(nodes[child].children.items()):
                    _add(node, f"{_PROJECTIONS[name]}_{part.lstrip('_')}", weight)


def _add(node: Node, name: str, child: int) -> None:
    node.children.setdefault(name, child)
