"""Commands: those of ``agog``, each in a module of its name, which is imported when it is asked for."""
