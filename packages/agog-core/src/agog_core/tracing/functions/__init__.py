"""Functions: what `function` wraps, the traces that it has, and which one a call takes."""
