"""The executor of traced functions on the device "cpu": it compiles a graph to one flat function of NumPy calls.

Its rooms are its stages: `lowering` makes a `program` of a graph, `grouping` passes groups of steps to compilers,
`planning` places each value in memory, and `emission` writes the source of the function.
"""
