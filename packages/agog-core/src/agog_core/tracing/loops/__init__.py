"""Loops: iterations and branches of a function that is traced, which become single nodes."""
