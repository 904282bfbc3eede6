"""Plugins that are broken, each in another way; the module's name says how."""
