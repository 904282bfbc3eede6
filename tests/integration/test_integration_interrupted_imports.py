"""A Ctrl-C while agog is imported, or a part of it at its first use: the same statements work afterwards.

With AGOG_ENDURANCE=1 it comes at 1000 places.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PLACES = 1000 if os.environ.get("AGOG_ENDURANCE") else 12
PROGRAM = """
import os, random, sys
import numpy, pluggy  # whatever happens there is theirs

FILES = os.sep + "agog"

class Interrupt:
    def __init__(self, at):
        self.left = at
        self.place = None

    def __call__(self, frame, event, argument):
        if FILES not in frame.f_code.co_filename:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                self.place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self

def use():
    import agog as tf
    ones = tf.ones([1, 2, 2, 3])
    tf.spectral.fft(tf.cast(ones, tf.complex64))
    tf.image.flip_left_right(ones)
    tf.nn.max_pool(ones, [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    tf.linalg.inv(tf.eye(2))
    tf.keras.layers.Dense(3)(tf.layers.flatten(ones))
    for _ in tf.data.Dataset.range(2).map(lambda x: x, 2):
        pass
    tf.train.Checkpoint(optimizer=tf.train.AdamOptimizer())
    from agog_core.dispatch.op import all_ops
    return sorted(all_ops())

def ask(at):
    "In a process of its own: the ops at last, or how many places there are."
    reading, writing = os.pipe()
    if process := os.fork():
        os.close(writing)
        with os.fdopen(reading) as answer:
            text = answer.read()
        os.waitpid(process, 0)
        return text
    interrupt = Interrupt(at)
    try:
        sys.settrace(interrupt)
        use()
        answer = str(at - interrupt.left)
    except KeyboardInterrupt:
        try:
            answer = f"{use()}"
        except BaseException as error:
            answer = f"{interrupt.place}: {error!r}"
    os.write(writing, answer.encode())
    os._exit(0)

places = int(ask(10**9))
rng = random.Random(0)
expected = None
for _ in range(int(sys.argv[1])):
    found = ask(rng.randrange(1, places))
    expected = expected or found
    if found != expected or not found.startswith("['abs', "):
        print(found[:1000])
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_the_next_import_works() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(PLACES)], capture_output=True, text=True)
    assert done.stdout == "done\n"
    assert done.stderr == ""
