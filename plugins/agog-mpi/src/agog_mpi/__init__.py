"""agog-mpi: processes that compute together, connected by MPI."""

__version__ = "0.1.0"
