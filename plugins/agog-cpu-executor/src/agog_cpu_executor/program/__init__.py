"""Program: the intermediate representation: steps of NumPy's functions, their kinds, and layouts of arrays."""
