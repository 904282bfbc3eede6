"""Collectives: ops that all processes of a group run together."""
