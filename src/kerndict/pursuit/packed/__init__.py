"""Pursuit and product in packed vectors: the same functions as `kerndict.pursuit.plain`."""

from kerndict.pursuit.packed.products import gram
from kerndict.pursuit.packed.pursue import codes, energies

__all__ = ["codes", "energies", "gram"]
