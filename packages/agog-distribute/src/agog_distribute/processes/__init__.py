"""Processes: which one this is, the groups that they form, and how they are connected."""
