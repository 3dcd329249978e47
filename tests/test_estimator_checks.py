import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kerndict import DictionaryClassifier, KernelDictionaryClassifier


# Their toy sets have classes of two dimensions, which any two atoms span.
@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
@parametrize_with_checks([DictionaryClassifier(), KernelDictionaryClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
