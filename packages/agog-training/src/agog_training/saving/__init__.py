"""Saving: whole models in one file, and weights of models of other programs."""

from agog_training.saving.cloning import *
from agog_training.saving.model_file import *
