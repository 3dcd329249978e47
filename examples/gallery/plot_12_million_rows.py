"""
A million rows from a memory map
================================

With many samples, both classifiers describe them by *landmarks*, some of the training samples, and
go once through all rows in chunks. So the data may stay on the disk.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from kerndict import KernelDictionaryClassifier

rng = np.random.default_rng(0)


def spirals(count):
    """Return points on three noisy spirals, and which spiral each is on."""
    labels = rng.integers(3, size=count)
    t = np.sqrt(rng.uniform(0.02, 1, count))
    angle = 6 * t + 2 * np.pi * labels / 3
    X = np.column_stack([t * np.cos(angle), t * np.sin(angle)])
    return (X + rng.normal(0, 0.07, X.shape)).astype(np.float32), labels


# %%
# A million rows, written to a file a part at a time, and opened as a memory map.
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rows.npy"
rows = np.lib.format.open_memmap(path, "w+", np.float32, (1_000_000, 2))
labels = np.empty(len(rows), int)
for start in range(0, len(rows), 100_000):
    part = slice(start, start + 100_000)
    rows[part], labels[part] = spirals(100_000)
rows.flush()
X = np.load(path, mmap_mode="r")
print(f"{len(X):,} rows, {path.stat().st_size / 1e6:.0f} MB on the disk")

# %%
# 150 landmarks are enough for a plane; by default it would be 500 or more.
begin = time.perf_counter()
model = KernelDictionaryClassifier(n_landmarks=150, random_state=0).fit(X, labels)
seconds = time.perf_counter() - begin
X_test, y_test = spirals(20_000)
print(f"fitted in {seconds:.1f} s, {1e6 * seconds / len(X):.1f} µs per row")
print(f"accuracy on new rows: {model.score(X_test, y_test):.3f}")
linear = LogisticRegression().fit(X_test[:10_000], y_test[:10_000])
print(f"a linear model:       {linear.score(X_test[10_000:], y_test[10_000:]):.3f}")

# %%
# What it decides, and the landmarks: white where it is not sure.
side = np.linspace(-1.15, 1.15, 161, dtype=np.float32)
plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
shares = model.predict_proba(plane)
colors = np.array([[0.12, 0.47, 0.71], [1.0, 0.5, 0.05], [0.17, 0.63, 0.17]])
image = 1 - (1 - shares @ colors) * ((shares.max(axis=1) - 1 / 3) * 1.5)[:, None]
figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.imshow(np.clip(image, 0, 1).reshape(161, 161, 3), origin="lower", extent=[-1.15, 1.15] * 2)
landmarks = np.array(X[model.fit_indices_])
ax.plot(*landmarks.T, "k.", markersize=4, label="landmarks")
ax.legend(loc="upper right")
ax.set(xticks=[], yticks=[])
plt.show()
