"""What a container of arrays offers: a list of its items, and each array when it is asked for."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kerndict._limits import check_bytes


@dataclass(frozen=True)
class Item:
    """What is known of an item before it is read.

    Parameters
    ----------
    words : the shape and the type of an array, or what it is instead
    n_bytes : the memory that the array takes; None for what is not an array of plain values
    """

    words: str
    n_bytes: int | None = None

    @property
    def is_array(self) -> bool:
        """Whether it can be read."""
        return self.n_bytes is not None


class Container(ABC):
    """An open file of named arrays, to be used in a ``with`` statement."""

    items: Mapping[str, Item]
    #: The bytes that arrays may take together, and that those which were read do take.
    limit: int
    taken: int = 0

    def read(self, name: str) -> NDArray:
        """Return the array of that name; a ValueError says what is wrong with it."""
        n_bytes = self.items[name].n_bytes
        if n_bytes is None:
            raise ValueError(f"{name!r} is {self.items[name].words}.")
        words = f"the array {name!r}{' with those before it' if self.taken else ''}"
        check_bytes(self.taken + n_bytes, self.limit, words)
        array = self._read(name)
        self.taken += array.nbytes
        if not _is_text(array):
            raise ValueError(f"the array {name!r} is damaged: it holds what is no text.")
        return array

    @abstractmethod
    def _read(self, name: str) -> NDArray:
        """Return the array of that name, which takes no more bytes than its item says."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _is_text(array: NDArray) -> bool:
    """Tell whether an array of text, if it is one, holds characters; NumPy does not check it."""
    if array.dtype.kind != "U" or array.dtype.itemsize == 0:
        return True
    points = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).view(np.uint32)
    return not (points > sys.maxunicode).any()
