"""Commands: the commands of ``agog``, each in a module of its name, imported lazily."""
