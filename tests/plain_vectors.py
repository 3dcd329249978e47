"""The primitives of the packed vectors in NumPy: a pointer is what follows in its array."""

import numpy as np

from kerndict.pursuit.shape import BYTES


def at(array, i):
    return array.reshape(-1)[i:]


def aligned(array):
    return array[-array.ctypes.data % BYTES // array.itemsize :]


def load(pointer, i, count):
    return pointer[i : i + count * (BYTES // pointer.itemsize)].copy()


def spread(value, count):
    return np.full(count * (BYTES // np.asarray(value).itemsize), value)


def store(pointer, i, x):
    pointer[i : i + len(x)] = x


def times(x, y):
    return x * y


def fma(x, y, z):
    return x * y + z


def magnitude(x):
    return np.abs(x)


def upper(x, top):
    return np.fmax(top, np.fmax.reduce(x.reshape(-1, len(top))))


def largest(top):
    return top.max()


def first_from(x, floor):
    places = np.flatnonzero(x >= floor)
    return places[0] if len(places) else len(x)
