"""Kinds: what steps, values and places of a program are, and the sets of kinds of which the same is true."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """What a step does."""

    UFUNC = "ufunc"  # a ufunc of NumPy or SciPy
    REDUCE = "reduce"  # the reduction of a ufunc
    WHERE = "where"
    CAST = "cast"  # a copy with another dtype
    COPY = "copy"  # a copy in another layout
    VIEW = "view"  # a method of arrays that gives a view
    DOT = "dot"
    MATMUL = "matmul"
    FULL = "full"  # an array of one number, or of none
    PUT = "put"  # its first input with a part of it replaced
    FUNCTION = "function"  # another function of NumPy
    JOIN = "join"  # a concatenation of parts that are computed where the whole lies
    LATE = "late"  # a number that the host computes at each run, such as a learning rate
    NUMBER = "number"  # arithmetic of such numbers
    SCALAR = "scalar"  # such a number as an array of rank 0
    HOST = "host"  # a function of ours, of arrays
    LOOP = "loop"  # graphs that run again and again
    GUARD = "guard"  # a comparison with what was seen when the function was traced
    KERNEL = "kernel"  # an op's kernel, called whole
    UPDATE = "update"  # a kernel that changes its first inputs in place
    GROUP = "group"  # steps, or nodes, that a compiler made one function of


class Source(Enum):
    """Where a value comes from."""

    INPUT = "input"
    VARIABLE = "variable"
    CONSTANT = "constant"
    NUMBER = "number"  # one of Python's, which has no array
    STEP = "step"


class Home(Enum):
    """Where a value lies."""

    GIVEN = "given"  # where the caller has put it
    SCALAR = "scalar"  # it is one of NumPy's scalars
    NEW = "new"  # in an array that each run makes
    BUFFER = "buffer"  # in the memory that stays between runs
    VARIABLE = "variable"  # in a variable's memory
    PART = "part"  # in a part of where another value lies


OF_UFUNC = frozenset({Kind.UFUNC, Kind.REDUCE})

ELEMENTWISE = frozenset({Kind.UFUNC, Kind.COPY, Kind.CAST})
"""Those that may write their result over an operand of its layout."""

PRODUCTS = frozenset({Kind.DOT, Kind.MATMUL})

FUSIBLE = frozenset({*OF_UFUNC, Kind.WHERE, Kind.CAST, Kind.COPY, Kind.VIEW})
"""Those that groups for compilers are made of."""

REPEATABLE = FUSIBLE | PRODUCTS | {Kind.PUT}
"""Those that say all by their inputs and options, so that they may be added again for other inputs."""

ALLOCATING = frozenset({Kind.KERNEL, Kind.HOST, Kind.LOOP, Kind.FUNCTION, Kind.WHERE})
"""Those that make the array of their result themselves."""

GIVING_ARRAYS = frozenset({Kind.KERNEL, Kind.HOST, Kind.LOOP, Kind.GROUP})
"""Those whose results of rank 0 are arrays too, and no scalars."""

TAKING_EAGER_ARRAYS = frozenset({Kind.HOST, Kind.LOOP, Kind.KERNEL, Kind.UPDATE, Kind.GUARD})
"""Those that need arrays in the layouts that eager calls give."""

IN_ORDER = frozenset({Kind.GUARD, Kind.LATE, Kind.UPDATE, Kind.HOST, Kind.LOOP})
"""Those that run even if nobody needs their result, in the order of the program."""

ENDING = frozenset({Kind.GUARD, Kind.LOOP})
"""Those that may end a run because the function goes another way."""

RAISING = frozenset({Kind.KERNEL, Kind.FUNCTION, Kind.HOST})
"""Those that raise for some values where their node does."""

BEFORE_WRITES = IN_ORDER | RAISING
"""Those before which no variable is written."""

NUMBERS = frozenset({Kind.NUMBER, Kind.SCALAR})
"""What the host computes of numbers alone."""

ON_HOST = NUMBERS | {Kind.LATE}

NEVER_COMPILED = ON_HOST | ENDING | {Kind.VIEW, Kind.HOST}
"""Those of which nobody asks why no compiler takes them."""
