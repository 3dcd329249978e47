"""The model of what has been learned."""

import numpy as np
from numpy.typing import NDArray

from kerndict.learning import Dictionaries
from kerndict.model import Model
from kerndict.rules import CollaborativeRule, LandmarkRule, ResidualRule
from kerndict.spaces import Space


def assemble(
    classes: NDArray,
    space: Space,
    class_sizes: NDArray,
    learned: Dictionaries,
    rule: CollaborativeRule | LandmarkRule | None = None,
) -> Model:
    """Return the model of what was learned; without a rule, with the residual rule."""
    return Model(
        classes=classes,
        space=space,
        n_atoms=np.array([A.shape[1] for A in learned.atoms]),
        class_sizes=class_sizes,
        sparsity=learned.sparsity,
        atoms=learned.atoms,
        grams=learned.grams,
        rule=ResidualRule(learned.grams, learned.sparsity) if rule is None else rule,
        incoherence=learned.gamma,
        reconstruction=learned.reconstruction,
        coherence=learned.coherence,
        codes=learned.codes,
    )
