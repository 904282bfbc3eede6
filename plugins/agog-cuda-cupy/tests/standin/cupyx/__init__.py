"""CuPy's second name, see `cupy`."""

from cupy_on_numpy import assembling

assembling.install()
