"""Tiles: what families of kernels are written with, in machine code that takes all sizes as arguments.

A family is a function that writes the code of one module. `units.unit` compiles it once for a processor, in about
0.2 s, and later processes load it from the disk. This one scales rows of a matrix, a turn each:

>>> import numpy as np
>>> from agog_cpu_llvm.tiles import entry
>>> from agog_cpu_llvm.units import bits, call, unit
>>> def write(module, dtype, lanes):
...     kinds = {"x": f"*{dtype}", "out": f"*{dtype}", "rows": "index", "columns": "index", "factor": "float64"}
...     with entry(module, "scale", kinds) as (code, words, scratch):
...         factor = lanes.splat(code, lanes.converted(words.factor))
...         with code.turns(words.counter, words.rows) as row:
...             x, out = words.x + row * words.columns, words.out + row * words.columns
...             with code.loop(0, words.columns, lanes.count) as loop:
...                 mask = lanes.first(words.columns - loop.index)
...                 lanes.store(lanes.load(x + loop.index, mask) * factor, out + loop.index, mask)
>>> x = np.arange(6, dtype=np.float32).reshape(2, 3)
>>> out = np.empty_like(x)
>>> call(unit("scale", write, "float32")["scale"], (x.ctypes.data, out.ctypes.data, 2, 3, bits(0.5)))
>>> print(out.tolist())
[[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]

- `entry` is a function ``(words, scratch)`` for `team.run`: word 0 is the counter of turns, the others are sizes,
  addresses and numbers by their names. Denormal numbers are zeros in it. `Function` is one that entries call.
- `Index`, `Pointer`, `Vector`, `Mask` and `Condition` are values that compiled code computes; Python's operators write
  its instructions. Pointers count elements. `Lanes` loads, stores and converts: the code is the same for all dtypes.
- `Code` has loops, turns, branches and memory on the stack. A loop is never empty unless it ``may_be_empty``; what it
  changes is ``carried``, and behind it one uses ``results``: else both the old and the new values take registers.
- `multiplied` is the tile: rows of numbers, each spread to a register, times vectors, added to sums that stay in
  registers. `registers.height` says how many rows fit.

An image or a matrix is read as it lies, without packing; what is read often, such as a filter, is copied to a place
that is aligned to 64 bytes. Sums of sums round less than one long sum. A turn computes the same whoever takes it, so
results have the same bits at any number of threads.
"""

from agog_cpu_llvm.tiles.code import *
from agog_cpu_llvm.tiles.register_tile import *
from agog_cpu_llvm.tiles.transposition import *
from agog_cpu_llvm.tiles.values import *
from agog_cpu_llvm.tiles.vectors import *
