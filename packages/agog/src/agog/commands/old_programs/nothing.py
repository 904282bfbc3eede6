"""Nothing: what stands for modules that old programs import, and of which agog has no name."""
