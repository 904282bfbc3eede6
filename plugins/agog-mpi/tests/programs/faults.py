"""One rank goes wrong: it raises, a thread of it raises, it ends, or it calls something else."""

import os
import sys
import threading
import time

import agog_core as ag
import agog_distribute as distribute

rank, what = distribute.rank(), sys.argv[1]
distribute.barrier()
if rank == 1:
    if what == "raises":
        raise ValueError("of rank 1")
    if what == "thread":
        threading.Thread(target=lambda: 1 // 0).start()
        time.sleep(60)
    if what == "exits":
        os._exit(3)
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
else:
    distribute.all_reduce(ag.ones([2]))  # where the others wait
