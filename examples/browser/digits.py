"""Learn from the digits of scikit-learn, and write digits.onnx for the page beside this file."""

from pathlib import Path

import onnx
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from kerndict import KernelDictionaryClassifier
from kerndict.export import to_onnx

X, y = load_digits(return_X_y=True)
model = make_pipeline(Normalizer(), KernelDictionaryClassifier(n_atoms=15, random_state=0))
model.fit(X, y)
onnx.save(to_onnx(model, dtype="float32"), Path(__file__).with_name("digits.onnx"))
