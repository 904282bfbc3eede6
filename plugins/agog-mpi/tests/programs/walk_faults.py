"""Rank 1 goes wrong while gradients are on their way: it raises, catches that and goes on, or ends."""

import sys

import numpy as np

import agog_core as ag
import agog_distribute as distribute

what, traced = sys.argv[1], "traced" in sys.argv
variables = [ag.Variable(np.ones((400, 400), np.float32) / 400) for _ in range(8)]
turn = 0


def fail(gradient):
    if distribute.rank() == 1 and turn == 2:
        if what == "exits":
            sys.exit(3)
        raise KeyboardInterrupt if what == "is interrupted" else ValueError("in the walk")
    return gradient


@ag.custom_gradient
def failing(x):
    return x, lambda g: ag.py_func(fail, [g], ag.float32)


def step(x):
    with distribute.DistributedGradientTape() as tape:
        for n, variable in enumerate(variables):
            x = ag.matmul(x, variable)
            x = failing(x) if n == 3 else x
        loss = ag.reduce_sum(x)
    return tape.gradient(loss, variables)


run = ag.function(step) if traced else step
for number in range(4):
    turn = number
    try:
        run(ag.ones([4, 400]))
    except Exception:
        if what == "raises" or distribute.rank() != 1:
            raise
        print("rank 1 goes on")
        if what == "catches and ends":
            break
