"""Programs: traced functions as data, that other processes run without the Python they come from."""
