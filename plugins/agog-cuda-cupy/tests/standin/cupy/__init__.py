"""CuPy's name: a program that has the folder of this one first on its path gets the stand-in for CuPy."""

from cupy_on_numpy import assembling

assembling.install()
