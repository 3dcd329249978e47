import pytest
from conftest import BOTH, RULES
from sklearn.utils.estimator_checks import parametrize_with_checks


# Their toy sets have classes of two dimensions, which any two atoms span.
@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
@parametrize_with_checks([kind(decision=rule) for kind in BOTH for rule in RULES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
