"""Scaling: how long several processes take for what one does, measured here and computed for many."""
