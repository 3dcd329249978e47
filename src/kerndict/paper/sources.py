"""Where the feature sets come from: a folder, the network, or scikit-learn."""

import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from kerndict.datasets import fetch_ar, fetch_caltech101, fetch_yaleb, load_features

_FETCH = {"yaleb": fetch_yaleb, "ar": fetch_ar, "caltech101": fetch_caltech101}
_STEMS = {"yaleb": ("yaleb",), "ar": ("ar", "arface"), "caltech101": ("caltech101",)}


def find_file(dataset: str, folder: Path | None) -> Path | None:
    """Return the feature file of a dataset in a folder, if it is there."""
    stems = _STEMS.get(dataset, ())
    names = [f"{stem}{suffix}" for stem in stems for suffix in (".npz", ".mat")]
    paths = [folder / name for name in names] if folder else []
    return next((path for path in paths if path.exists()), None)


@lru_cache(maxsize=1)
def load_dataset(dataset: str, folder: Path | None) -> Bunch:
    """Load a dataset from a folder, or fetch it; digits come with scikit-learn.

    In double precision, as the paper computes: its kernels are nearly singular.
    """
    if dataset == "digits":
        features = load_digits()
        features.train = None
        return features
    path = find_file(dataset, folder)
    features = load_features(path) if path else _FETCH[dataset]()
    features.data = features.data.astype(np.float64, copy=False)
    return features


def fingerprint(features: Bunch) -> str:
    """Return what tells two feature sets apart."""
    parts = [features.data, features.target]
    parts += [] if features.train is None else [features.train]
    return " ".join([str(features.data.shape), *(str(zlib.crc32(p.tobytes())) for p in parts)])
