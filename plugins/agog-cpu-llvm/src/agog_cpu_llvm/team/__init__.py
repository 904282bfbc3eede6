"""Team: threads that compute a call of a compiled function together.

A kernel writes a function ``(words, scratch)`` that takes turns, such as images or blocks of rows, until none is left,
and calls it by `run`: each thread of the team runs it, with scratch memory of its own. Word 0 is the counter of turns,
from which each thread takes the next number; the kernel's sizes and addresses follow it. Since threads take turns, not
shares, one that another program keeps from its processor holds nobody up. Results have the same bits at any number of
threads if each turn computes the same ones whoever takes it.
"""

from agog_cpu_llvm.team.team import *
