"""Commands: those of ``agog`` that are imported only when they are asked for, each in a module of its name."""
