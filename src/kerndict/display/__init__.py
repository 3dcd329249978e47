"""Pictures of data, models and decisions, in the manner of scikit-learn's Displays.

They need matplotlib (``pip install "kerndict[plot]"``), which is imported when something is
drawn, not before.
"""

from kerndict.display.atoms import AtomsDisplay
from kerndict.display.coherence import CoherenceDisplay
from kerndict.display.explanation import ExplanationDisplay
from kerndict.display.objective import ObjectiveDisplay
from kerndict.display.residual import ResidualDisplay
from kerndict.display.typicality import TypicalityDisplay

__all__ = [
    "AtomsDisplay",
    "CoherenceDisplay",
    "ExplanationDisplay",
    "ObjectiveDisplay",
    "ResidualDisplay",
    "TypicalityDisplay",
]
