"""Preparing: what programs do with data on the host before they train, and what they draw and fetch."""
