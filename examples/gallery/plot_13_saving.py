"""
Saving, loading, and ONNX
=========================

``kerndict.save`` writes a model to one file that never runs code when it is loaded. ``to_onnx``
makes it a model for programs that have neither kerndict nor Python. Both predict as the model does.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import kerndict
from kerndict import KernelDictionaryClassifier
from kerndict.export import to_onnx

X, y = load_digits(return_X_y=True)
model = make_pipeline(Normalizer(), KernelDictionaryClassifier(n_atoms=15, random_state=0))
model.fit(X[::2], y[::2])
expected = model.predict_proba(X[1::2])

# %%
# A file of our own, for Python:
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "digits.safetensors"
kerndict.save(model, path)
loaded = kerndict.load(path)
print(f"{path.stat().st_size / 1e6:.2f} MB")
print("the same, bit for bit:", np.array_equal(loaded.predict_proba(X[1::2]), expected))

# %%
# An ONNX model, for everything else: C++, Java, JavaScript, a phone, a browser.
exported = to_onnx(model).SerializeToString()
session = onnxruntime.InferenceSession(exported)
label, shares = session.run(["label", "probabilities"], {"X": X[1::2]})
print(f"{len(exported) / 1e6:.2f} MB")
print(f"largest difference of probabilities: {np.abs(shares - expected).max():.0e}")
print("the same labels:", np.array_equal(label, model.predict(X[1::2])))

# %%
# In single precision it is half as large, and its probabilities differ a little.
single = to_onnx(model, dtype="float32").SerializeToString()
session = onnxruntime.InferenceSession(single)
(rough,) = session.run(["probabilities"], {"X": X[1::2].astype(np.float32)})
print(f"{len(single) / 1e6:.2f} MB")
print(f"labels that agree: {(rough.argmax(axis=1) == expected.argmax(axis=1)).mean():.2%}")

figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
for name, found in (("float32", rough), ("float64", shares)):
    ax.plot(expected.ravel(), np.abs(found - expected).ravel() + 1e-17, ".", label=name)
ax.set(xlabel="probability", ylabel="difference in ONNX", xlim=(1e-8, 1.5))
ax.loglog()
ax.legend()
plt.show()
