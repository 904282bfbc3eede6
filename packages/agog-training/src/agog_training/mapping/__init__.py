"""Mapping: weights of other programs' files, such as PyTorch's, for models of the same layers."""

from agog_training.mapping.mapping import *
from agog_training.mapping.proposal import *
