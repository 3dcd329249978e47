"""What has been learned from batches as named arrays, so that a model goes on learning."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import to_host
from kerndict._state import Field, pack, stored_fields, unpack
from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.exceptions import ModelFormatError
from kerndict.landmarks import Landmarks, Learner, Sample, Sums
from kerndict.spaces import LandmarkSpace

_FIELDS = [
    Field("seed", "index", name="learner.seed"),
    *stored_fields(Landmarks, "landmarks"),
    *stored_fields(Sums, "sums"),
    *stored_fields(Sample, "sample"),
]


def learner_state(learner: Learner) -> dict[str, NDArray]:
    """Return the arrays that learning goes on from, landmarks and labels aside."""
    return pack(learner.converted(to_host), _FIELDS)


def restore_learner(
    estimator: DictionaryClassifier | KernelDictionaryClassifier, arrays: dict[str, NDArray]
) -> None:
    """Let a restored classifier go on learning, if its file tells what from."""
    if "learner.seed" not in arrays:
        return
    model = estimator.model_
    space, n_classes = model.space, len(model.classes)
    if not isinstance(space, LandmarkSpace):
        raise ModelFormatError("only a model with landmarks goes on learning.")
    letters: dict[str, Any] = {
        "C": n_classes,
        "M": len(space.rows),
        "m": space.n_features,
        "precision": space.rows.dtype,
    }
    found = unpack(arrays, _FIELDS, letters)
    factor, labels = found["landmarks.factor"], found["sample.labels"]
    if (np.diagonal(factor) <= 0).any() or (labels >= n_classes).any():
        raise ModelFormatError("what learning goes on from cannot be right.")
    landmarks = Landmarks(space.kernel, space.rows, space.fit_indices, factor)
    learner = Learner(landmarks, n_classes, found["seed"])
    learner.sums = Sums(**_parts(found, "sums", Sums))
    learner.sums.products = np.asfortranarray(learner.sums.products)
    learner.sample = Sample(**_parts(found, "sample", Sample))
    estimator.learner_, estimator.batch_classes_ = learner, model.classes


def _parts(found: dict[str, Any], inside: str, kind: type) -> dict[str, Any]:
    return {field.name: found[f"{inside}.{field.name}"] for field in fields(kind)}
