"""agog-compat: names that only programs of TensorFlow call, a file for each kind.

>>> from agog_compat.hparams import HParams
>>> HParams(rate=0.1).values()
{'rate': 0.1}
"""
