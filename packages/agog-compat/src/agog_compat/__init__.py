"""agog-compat: what exists only because programs of TensorFlow and Keras call it, a file for each kind.

>>> from agog_compat.hparams import HParams
>>> HParams(rate=0.1).values()
{'rate': 0.1}
"""
