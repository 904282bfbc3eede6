"""Program: a traced function in steps of NumPy, and the layouts of what these give."""
