"""How a class is decided on: the paper's residual rule, and a collaborative one."""

from kerndict.rules.base import Rule
from kerndict.rules.collaborative import CollaborativeRule
from kerndict.rules.landmark import LandmarkRule
from kerndict.rules.residual import ResidualRule

__all__ = ["CollaborativeRule", "LandmarkRule", "ResidualRule", "Rule"]
