"""Random: the ops that PyTorch has no counterpart for."""

_OPS = """
dropout multinomial random_gamma random_integers random_normal random_permutation random_poisson random_uniform
truncated_normal
"""

NO_COUNTERPART = dict.fromkeys(_OPS.split(), "its numbers come from a generator of agog's own")
