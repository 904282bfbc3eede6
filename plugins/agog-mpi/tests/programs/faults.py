"""One rank goes wrong: it raises, is killed, stops, loops, ends, or calls something else than the others."""

import os
import signal
import sys
import threading
import time

import agog_core as ag
import agog_distribute as distribute

rank, what = distribute.rank(), sys.argv[1]


@ag.function
def divided(x):
    ag.assert_positive(x)
    return distribute.all_reduce(1.0 / x)


def loop():
    while True:
        time.sleep(0.01)


FAULTS = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "thread": lambda: (threading.Thread(target=lambda: 1 // 0).start(), time.sleep(60)),
    "exit": lambda: sys.exit(3),
    "end": lambda: sys.exit(0),
    "hard exit": lambda: os._exit(3),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "loop": loop,
    "traced": lambda: divided(ag.constant(-1.0)),
    "missing": lambda: distribute.all_gather([1.0]),
    "order": lambda: (distribute.broadcast([1.0]), distribute.all_reduce([1.0])),
}

distribute.barrier()
if rank == 1:
    if what == "raises":
        raise ValueError("of rank 1")
    if what in FAULTS:
        FAULTS[what]()
if what == "shapes":
    distribute.all_reduce(ag.ones([2 + rank]))
if what == "guard":

    @ag.function
    def step(x, flag):
        total = distribute.all_reduce(x)
        return total * 2.0 if flag > 0 else total

    for turn in range(4):  # the way of rank 1 changes in the third
        flag = ag.constant(-1.0 if rank == 1 and turn == 2 else 1.0)
        factor = 1.0 if rank == 1 and turn == 2 else 2.0
        assert float(step(ag.constant(10.0**turn), flag)) == factor * 2 * 10.0**turn
    print(f"rank {rank} of {distribute.size()} has found all as wanted")
elif what == "slow":  # a rank that computes for long is alive
    if rank == 1:
        time.sleep(6)
    distribute.barrier()
    print(f"rank {rank} of {distribute.size()} has found all as wanted")
else:
    distribute.all_reduce(ag.ones([2]))  # where the others wait
    distribute.broadcast([1.0])
