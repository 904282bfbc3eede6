"""Faults: what ends a run in which processes do not do the same, are stopped or gone."""
