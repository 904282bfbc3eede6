"""agog-saved-model: traced functions with their variables and files, which a program calls without their classes.

>>> import tempfile
>>> import agog_core as ag
>>> class Scale(ag.Module):
...     def __init__(self):
...         super().__init__()
...         self.factor = ag.Variable(2.0)
...
...     @ag.function(input_signature=[ag.TensorSpec([None])])
...     def __call__(self, x):
...         return x * self.factor
>>> with tempfile.TemporaryDirectory() as folder:
...     save(Scale(), folder)
...     loaded = load(folder)
>>> print(loaded(ag.constant([1.0, 3.0])))
tf.Tensor([2. 6.], shape=(2,), dtype=float32)
"""

from agog_saved_model.assets import Asset
from agog_saved_model.loading import contains_saved_model, load
from agog_saved_model.options import LoadOptions, SaveOptions
from agog_saved_model.restored_function import RestoredFunction, SignatureFunction
from agog_saved_model.saving import save

__version__ = "0.1.0"

__all__ = [
    "Asset",
    "LoadOptions",
    "RestoredFunction",
    "SaveOptions",
    "SignatureFunction",
    "contains_saved_model",
    "load",
    "save",
]
