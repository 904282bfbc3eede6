"""Activations: the activation functions of recurrent layers and their derivatives, chosen by a number at each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import starmap

from llvmlite import ir

from agog_cpu_llvm.kernels.recurrent.words import ACTIVATIONS
from agog_cpu_llvm.tiles import Code, Index, Vector
from agog_cpu_llvm.tiles.exponentials import clipped, sigmoid, tanh

_FUNCTIONS: dict[str, Callable[[Vector], Vector]] = {
    "tanh": tanh,
    "sigmoid": sigmoid,
    "hard_sigmoid": lambda x: clipped(x.fma(0.2, 0.5), 0.0, 1.0),
    "relu": lambda x: (x < 0.0).select(_zero(x), x),
    "linear": lambda x: x,
}

_SLOPES: dict[str, Callable[[Vector, Vector], Vector]] = {
    "tanh": lambda y, g: (-y).fma(y, 1.0) * g,
    "sigmoid": lambda y, g: (-y).fma(y, y) * g,
    "hard_sigmoid": lambda y, g: ((y > 0.0) & (y < 1.0)).select(g * 0.2, _zero(g)),
    "relu": lambda y, g: (y > 0.0).select(g, _zero(g)),
    "linear": lambda y, g: g,
}


def activated(code: Code, number: Index, *vectors: Vector) -> list[Vector]:
    """The activation function of a number, of each vector."""
    return _chosen(code, number, [partial(map, _FUNCTIONS[name], vectors) for name in ACTIVATIONS])


def differentiated(code: Code, number: Index, *pairs: tuple[Vector, Vector]) -> list[Vector]:
    """Of each pair, a result of the activation function and its gradient: the gradient of the argument."""
    return _chosen(code, number, [partial(starmap, _SLOPES[name], pairs) for name in ACTIVATIONS])


def _zero(x: Vector) -> Vector:
    return x.like(x.lanes.constant(0.0))


def _chosen(code: Code, number: Index, cases: Sequence[Callable[[], Iterable[Vector]]]) -> list[Vector]:
    """What the case of a number computes."""
    b = code.b
    done = b.append_basic_block("chosen")
    blocks = [b.append_basic_block("case") for _ in cases]
    switch = b.switch(number.ir, blocks[0])
    found = []
    for case, block in enumerate(blocks):
        switch.add_case(ir.Constant(number.ir.type, case), block)
        b.position_at_end(block)
        found.append(list(cases[case]()))
        b.branch(done)
    b.position_at_end(done)
    results = []
    for vectors in zip(*found, strict=True):
        phi = b.phi(vectors[0].ir.type)
        for vector, block in zip(vectors, blocks, strict=True):
            phi.add_incoming(vector.ir, block)
        results.append(vectors[0].like(phi))
    return results
