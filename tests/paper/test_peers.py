import numpy as np
from conftest import toy

from kerndict.paper.peers import TunedSVC


def test_the_largest_score_is_the_prediction():
    X, y = toy(n_classes=3, noise=0.8)
    model = TunedSVC(C=(1.0, 10.0)).fit(X, y)
    new = toy(n_classes=3, noise=0.8, seed=1)[0]
    scores = model.decision_function(new)
    assert scores.shape == (len(new), 3)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(new))
