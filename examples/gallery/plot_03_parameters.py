"""
Which parameters should I touch?
================================

First of all none: the default settles the kernel width, the dictionaries and the decision rule from
the training data. This page shows what each parameter does to accuracy and size, with the code that
draws it. The curves are means over three splits of the digits, 20 training samples per class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import normalize

from kerndict import KernelDictionaryClassifier
from kerndict.kernels import median_distance

X, y = load_digits(return_X_y=True)
X = normalize(X)
splits = list(StratifiedShuffleSplit(3, train_size=200, test_size=600, random_state=0).split(X, y))
median = median_distance(X, np.random.RandomState(0))


def measure(**options):
    """Return the mean accuracy in % and log-loss over the splits."""
    found = []
    for train, test in splits:
        model = KernelDictionaryClassifier(random_state=0, **options).fit(X[train], y[train])
        loss = log_loss(y[test], model.predict_proba(X[test]))
        found.append((100 * model.score(X[test], y[test]), loss))
    return np.mean(found, axis=0)


def draw(ax, values, results, name, default):
    """Draw accuracy and log-loss; mark what the default gives."""
    accuracy, loss = np.transpose(results)
    ax.plot(values, accuracy, "o-", color="tab:blue")
    ax.axhline(default[0], color="tab:blue", linestyle=":", label="default")
    ax.set_xlabel(name)
    ax.set_ylabel("accuracy, %", color="tab:blue")
    other = ax.twinx()
    other.plot(values, loss, "s--", color="tab:red")
    other.set_ylabel("log-loss", color="tab:red")
    ax.legend(loc="lower right", fontsize=8)


default = measure()
print(f"default: accuracy {default[0]:.1f} %, log-loss {default[1]:.3f}")

# %%
# The width of the kernel
# -----------------------
# ``sigma`` matters most. The default compares multiples of the median distance between samples by
# leave-one-out. Give your own only if you search it: a narrow kernel makes every sample unlike all
# others, a wide one makes all of them alike.
widths = np.array([0.25, 0.5, 1, 2, 4])
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
draw(ax, widths, [measure(sigma=w * median) for w in widths], "sigma / median distance", default)
ax.set_xscale("log", base=2)

# %%
# The number of atoms
# -------------------
# ``n_atoms`` trades accuracy for size: time and memory of predictions grow with the atoms, and more
# of them seldom hurt. A number counts atoms per class, a share such as 0.5 is that of its samples.
atoms = [1, 2, 5, 10, 15, 20]
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
draw(ax, atoms, [measure(n_atoms=n) for n in atoms], "n_atoms per class", default)

# %%
# The rule
# --------
# ``decision="collaborative"``, the default, has probabilities, and is the more accurate on most
# data (:doc:`/accuracy`); on these digits both are level. The paper's, ``decision="residual"``, is
# several times faster to fit. It needs enough nonzeros per code; but with as many as a class has
# samples its dictionary no longer matters, and `fit` says so.
counts = [1, 2, 3, 5, 8, 12]
scores = []
for count in counts:
    options = {"n_atoms": 12, "n_nonzero_coefs": count, "decision": "residual"}
    models = (
        KernelDictionaryClassifier(random_state=0, **options).fit(X[train], y[train])
        for train, _ in splits
    )
    tests = (test for _, test in splits)
    scores.append(np.mean([m.score(X[t], y[t]) for m, t in zip(models, tests, strict=True)]))
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
ax.plot(counts, 100 * np.array(scores), "o-", label="residual rule")
ax.axhline(default[0], color="black", linestyle=":", label="collaborative rule, default")
ax.set(xlabel="n_nonzero_coefs", ylabel="accuracy, %")
ax.legend()

# %%
# Incoherence
# -----------
# ``incoherence`` keeps the atoms of different classes apart. A little may help; much costs.
weights = [0, 0.01, 0.03, 0.1, 0.3, 1]
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
results = [measure(n_atoms=10, incoherence=weight) for weight in weights]
draw(ax, range(len(weights)), results, "incoherence", default)
ax.set_xticks(range(len(weights)), weights)
plt.show()

# %%
# In short
# --------
#
# ===================  ==========================================================================
# parameter            when to touch it
# ===================  ==========================================================================
# ``n_atoms``          predictions take too long or the model is too large: fewer
# ``sigma``            never by hand; in a grid if you have time
# ``incoherence``      in a grid: 0, 0.01, 0.03
# ``decision``         ``"residual"`` to compare with the paper, or for fits in a hurry
# ``n_landmarks``      many samples: fewer are faster, more are more accurate
# ``n_iter``           0 as a control: what did learning bring?
# ``class_weight``     ``"balanced"`` if rare classes matter as much as frequent ones
# all others           for comparison with the paper
# ===================  ==========================================================================
