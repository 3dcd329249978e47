"""
A kernel of your own: strings
=============================

Samples need not be rows of numbers. Any positive semidefinite kernel between them will do: of
strings, of graphs, of sets. Here short words of four languages are told apart by the letters that
follow each other in them, with ``kernel="precomputed"``.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold

from kerndict import KernelDictionaryClassifier

WORDS = {
    "English": """water bread house mother father brother sister window morning evening night
        winter summer spring flower mountain river forest bird horse apple cheese butter sugar
        church street bridge kitchen teacher weather thunder feather laughter daughter thought
        through enough strength breath health wealth knowledge""",
    "German": """wasser brot haus mutter vater bruder schwester fenster morgen abend nacht winter
        sommer herbst blume berg fluss wald vogel pferd apfel käse butter zucker kirche strasse
        brücke küche lehrer wetter donner feder gelächter tochter gedanke durch genug stärke atem
        gesundheit schrank schloss freundschaft""",
    "Italian": """acqua pane casa madre padre fratello sorella finestra mattina sera notte inverno
        estate primavera fiore montagna fiume foresta uccello cavallo mela formaggio burro zucchero
        chiesa strada ponte cucina maestro tempo tuono piuma risata figlia pensiero attraverso
        abbastanza forza respiro salute bellezza conoscenza amicizia""",
    "Finnish": """vesi leipä talo äiti isä veli sisko ikkuna aamu ilta yö talvi kesä kevät kukka
        vuori joki metsä lintu hevonen omena juusto voi sokeri kirkko katu silta keittiö opettaja
        sää ukkonen sulka nauru tytär ajatus läpi tarpeeksi voima hengitys terveys kauneus
        tietämys ystävyys""",
}
words = [word for text in WORDS.values() for word in text.split()]
y = np.array([name for name, text in WORDS.items() for _ in text.split()])
print(f"{len(words)} words")

# %%
# The kernel: how many pieces of one to three letters two words share. Dividing by the lengths makes
# every word equally long in the feature space, k(y, y) = 1.


def pieces(word, longest=3):
    """Count the pieces of a word, with its two ends marked."""
    marked = f"<{word}>"
    return Counter(
        marked[i : i + n] for n in range(1, longest + 1) for i in range(len(marked) - n + 1)
    )


counts = [pieces(word) for word in words]
K = np.array([[sum((a & b).values()) for b in counts] for a in counts], float)
lengths = np.sqrt(np.diagonal(K))
K = K / np.outer(lengths, lengths)
print(f"the smallest eigenvalue is {np.linalg.eigvalsh(K)[0]:.3f}: not negative")

# %%
# ``fit`` takes the kernel between the training samples, ``predict`` that of new samples (rows) with
# the training samples (columns). Ten folds, so that every word is decided on by a model that has
# not seen it.
found = np.empty_like(y)
sure = np.empty(len(y))
for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(K, y):
    model = KernelDictionaryClassifier(kernel="precomputed", random_state=0)
    model.fit(K[np.ix_(train, train)], y[train])
    rows = K[np.ix_(test, train)]
    found[test] = model.predict(rows)
    sure[test] = model.predict_proba(rows).max(axis=1)
print(f"right: {(found == y).mean():.0%} (by chance: 25 %)")

# %%
# The kernel matrix, words by language; and some words with what the model takes them for.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.imshow(np.minimum(K, 0.5), cmap="magma")
middles = [np.flatnonzero(y == name).mean() for name in WORDS]
left.set_xticks(middles, WORDS)
left.set_yticks(middles, WORDS)
left.set_title("shared pieces of words")
right.axis("off")
picked = np.random.default_rng(2).choice(len(words), 12, replace=False)
for line, i in enumerate(picked):
    color = "black" if found[i] == y[i] else "firebrick"
    text = f"{words[i]:<14} {found[i]:<8} {sure[i]:4.0%}"
    right.text(0, 0.95 - line / 12.5, text, family="monospace", color=color)
right.set_title("word, decision, probability (red: wrong)")
plt.show()
