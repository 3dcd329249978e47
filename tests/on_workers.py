"""What tests let the workers of a cluster do."""

import os
import signal
import time
import weakref
from pathlib import Path

import numpy as np

#: How many values of `Counted` there are in this process, and the most there have been at a time.
alive, most = 0, 0


class Counted:
    """A sum that tells how many of its kind there are; the place tells its order."""

    def __init__(self, places):
        global alive, most
        self.places = places
        alive += 1
        most = max(most, alive)
        weakref.finalize(self, gone)

    def __reduce__(self):
        return Counted, (self.places,)


def gone():
    global alive
    alive -= 1


def counted_step(before, common, number, first, X, y):
    time.sleep(0.01)
    return Counted([*(before.places if before else []), number])


def counted_merge(one, other):
    time.sleep(0.01)
    return Counted([*one.places, *other.places])


def most_counted(begin=False):
    global most
    if begin:
        most = alive
    return most


def visits(folder, number):
    """Return how often a chunk has been made, this time included."""
    marks = Path(folder)
    count = len(list(marks.glob(f"{number}-*"))) + 1
    (marks / f"{number}-{count}").touch()
    return count


def dies(block, folder, number, at, block_info=None):
    """Give a chunk; the worker is killed as it makes chunk ``number`` for these times."""
    here = block_info[0]["chunk-location"][0]
    if here == number and visits(folder, number) in at:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def slow(block, folder, block_info=None):
    """Give a chunk after a while, and leave a mark."""
    visits(folder, block_info[0]["chunk-location"][0])
    time.sleep(0.2)
    return block


def rows_of(n_rows, seed):
    """Return rows of three classes, and their classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n_rows)
    X = rng.standard_normal((n_rows, 6))
    X[np.arange(n_rows), labels] += 2 + np.abs(X[:, 5])
    return X, labels
