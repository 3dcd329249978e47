"""The fitted attributes of the classifiers, which come from the model."""

import numpy as np
from numpy.typing import NDArray

from kerndict.model import Model
from kerndict.rules import CollaborativeRule, LandmarkRule, ResidualRule
from kerndict.spaces import ComputedKernel, LandmarkSpace


class FittedAttributes:
    """What `fit` leaves: `model_`, and its parts by the names that scikit-learn users expect."""

    model_: Model

    @property
    def classes_(self) -> NDArray:
        """The labels."""
        return self.model_.classes

    @property
    def n_atoms_(self) -> NDArray:
        """Atoms of each class."""
        return self.model_.n_atoms

    @property
    def incoherence_(self) -> float:
        """The absolute weight γ of the penalty."""
        return self.model_.incoherence

    @property
    def reconstruction_(self) -> NDArray:
        """The first term of Eq. (3) or (7) after each pass."""
        return self.model_.reconstruction

    @property
    def coherence_(self) -> NDArray:
        """The second term after each pass, γ not applied."""
        return self.model_.coherence

    @property
    def n_iter_(self) -> int:
        """Passes made."""
        return len(self.model_.reconstruction)

    @property
    def codes_(self) -> list[NDArray]:
        """The codes of the training samples of each class after the last pass."""
        if isinstance(self.model_.rule, LandmarkRule):
            raise AttributeError(
                "a model with landmarks has no training codes: fit it with n_landmarks='all' or "
                "decision='residual'."
            )
        if self.model_.codes is None:
            raise AttributeError("a model from a file has no training codes: fit it again.")
        return self.model_.codes

    @property
    def fit_indices_(self) -> NDArray:
        """The rows given to `fit`, grouped by class."""
        if self.model_.space.fit_indices is None:
            raise AttributeError("this model comes from a file that does not keep them.")
        return self.model_.space.fit_indices

    @property
    def n_landmarks_(self) -> int:
        """Training samples that the model describes others by."""
        space = self.model_.space
        if isinstance(space, LandmarkSpace):
            return int(space.rows.shape[0])
        return int(self.model_.class_sizes.sum())

    @property
    def within_class_whitening_(self) -> float:
        """The strength of the whitening, 0 for none."""
        preparation = self.model_.space.preparation
        return 0.0 if preparation is None else preparation.strength

    @property
    def square_root_(self) -> bool:
        """Whether the square root of each number is taken first."""
        preparation = self.model_.space.preparation
        return preparation is not None and bool(preparation.square_root)

    @property
    def ridge_(self) -> float:
        """The ridge of the collaborative rule."""
        return self._collaborative().ridge

    @property
    def rule_weights_(self) -> NDArray:
        """The weights of the collaborative rule; with landmarks, that of o alone."""
        rule = self._collaborative()
        return np.array([rule.weight]) if isinstance(rule, LandmarkRule) else rule.weights

    @property
    def rule_offsets_(self) -> NDArray:
        """The offsets of the collaborative rule."""
        return self._collaborative().offsets

    def _collaborative(self) -> CollaborativeRule | LandmarkRule:
        rule = self.model_.rule
        if isinstance(rule, ResidualRule):
            raise AttributeError("this model was fitted with decision='residual'.")
        return rule


class KernelAttributes(FittedAttributes):
    """What `fit` leaves of a kernel besides."""

    @property
    def dual_dictionaries_(self) -> list[NDArray]:
        """The atoms of each class as combinations of its training samples, or of landmarks."""
        space, atoms = self.model_.space, self.model_.atoms
        if isinstance(space, LandmarkSpace):
            return [space.dual(A) for A in atoms]
        return atoms

    @property
    def X_fit_(self) -> NDArray | None:
        """The training rows grouped by class, or the landmarks; None where none are kept."""
        space = self.model_.space
        return space.rows if isinstance(space, ComputedKernel) else None

    @property
    def sigma_(self) -> float:
        """The width used, for ``kernel="rbf"``."""
        space = self.model_.space
        if not isinstance(space, ComputedKernel) or space.kernel.name != "rbf":
            raise AttributeError("only kernel='rbf' has a width.")
        return space.kernel.sigma
