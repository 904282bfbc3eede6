"""Plugins: finding, loading and registering them, what they bring, and which of them are preferred."""
