"""Launcher: what `agog launch` starts, hears and says."""
