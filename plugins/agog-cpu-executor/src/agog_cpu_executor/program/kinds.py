"""Kinds: the kinds of steps, sources and places, and the sets of kinds that share a property."""

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
"""They may write their result over an operand of the same layout."""

PRODUCTS = frozenset({Kind.DOT, Kind.MATMUL})

FUSIBLE = frozenset({*OF_UFUNC, Kind.WHERE, Kind.CAST, Kind.COPY, Kind.VIEW})
"""Groups for compilers consist of them."""

REPEATABLE = FUSIBLE | PRODUCTS | {Kind.PUT}
"""They depend on inputs and fields alone, so that templates repeat them for other inputs."""

ALLOCATING = frozenset({Kind.KERNEL, Kind.HOST, Kind.LOOP, Kind.FUNCTION, Kind.WHERE})
"""They allocate their result themselves."""

GIVING_ARRAYS = frozenset({Kind.KERNEL, Kind.HOST, Kind.LOOP, Kind.GROUP})
"""Their results of rank 0 are arrays, not scalars."""

TAKING_EAGER_ARRAYS = frozenset({Kind.HOST, Kind.LOOP, Kind.KERNEL, Kind.UPDATE, Kind.GUARD})
"""They need arrays in the layouts of eager calls."""

IN_ORDER = frozenset({Kind.GUARD, Kind.LATE, Kind.UPDATE, Kind.HOST, Kind.LOOP})
"""They run even if nobody uses their result, in the order of the program."""

ENDING = frozenset({Kind.GUARD, Kind.LOOP})
"""They may end a run because the function goes another way."""

RAISING = frozenset({Kind.KERNEL, Kind.FUNCTION, Kind.HOST})
"""They raise for some values where their node does."""

BEFORE_WRITES = IN_ORDER | RAISING
"""No variable is written before them."""

NUMBERS = frozenset({Kind.NUMBER, Kind.SCALAR})
"""Arithmetic of the host on numbers."""

ON_HOST = NUMBERS | {Kind.LATE}

NEVER_COMPILED = ON_HOST | ENDING | {Kind.VIEW, Kind.HOST}
"""No compiler is asked to take them."""
