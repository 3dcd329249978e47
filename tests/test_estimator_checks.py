import pytest
from conftest import BOTH, RULES
from sklearn.utils.estimator_checks import parametrize_with_checks

from kerndict import KernelDictionaryClassifier


def cannot_hold(estimator):
    """Return the checks that cannot hold, with the reason."""
    found = {
        "check_sample_weight_equivalence_on_dense_data": (
            "a sample repeated is one more that may become an atom, and one more to draw among; "
            "a weight makes neither"
        )
    }
    if estimator.decision == "residual" and isinstance(estimator, KernelDictionaryClassifier):
        found["check_class_weight_classifiers"] = (
            "the residual rule asks which class leaves least of a sample, whatever it weighs"
        )
    return found


# Their toy sets have classes of two dimensions, which any two atoms span.
@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
@parametrize_with_checks(
    [kind(decision=rule) for kind in BOTH for rule in RULES], expected_failed_checks=cannot_hold
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
