"""Dates as numbers."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

ISO = "iso"
#: How dates are written, beside ISO 8601; the first that reads all of a column is taken.
DAYS = (
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d/%m/%y",
    "%m/%d/%y",
)
FORMATS = (ISO, *(f"{day}{time}" for day in DAYS for time in ("", " %H:%M", " %H:%M:%S")))
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
_NANOSECONDS = re.compile(r"(\.\d{6})\d+")
_LONGEST = 40
_EPOCH = datetime(1970, 1, 1)


def date_format(cells: Iterable[str]) -> str | None:
    """Return how the dates in some cells are written, None unless all of them are dates.

    >>> date_format(["2024-02-29", "2024-03-01 12:30"]), date_format(["31/12/2024", "1/2/2024"])
    ('iso', '%d/%m/%Y')
    >>> date_format(["12/31/2024"]), date_format(["red"])
    ('%m/%d/%Y', None)
    """
    left = list(FORMATS)
    found = False
    for cell in set(cells):
        if cell:
            found = True
            left = [form for form in left if parse(cell, form) is not None]
            if not left:
                return None
    return left[0] if found else None


def parse(cell: str, form: str) -> datetime | None:
    """Return the date in a cell, None if it is none of that form.

    >>> parse("2024-02-29", "iso"), parse("30/02/2024", "%d/%m/%Y")
    (datetime.datetime(2024, 2, 29, 0, 0), None)
    """
    if len(cell) > _LONGEST:
        return None
    try:
        if form == ISO:
            if not _ISO.fullmatch(cell):
                return None
            found = datetime.fromisoformat(_NANOSECONDS.sub(r"\1", cell))
        else:
            found = datetime.strptime(cell, form)
        return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


class DateEncoder(TransformerMixin, BaseEstimator):
    """Turn columns of dates into numbers.

    Each column becomes the days since 1970, the day of the year, the day of the week (0 is Monday)
    and, where one of its dates has a time of day, the hour.  A gap, and what is no date, becomes
    NaN.

    Attributes
    ----------
    formats_ : ndarray of shape (n_features,)
        How the dates of each column are written: ``"iso"``, or a format of `strptime`.
    has_time_ : ndarray of shape (n_features,)
        Whether a date of the column has a time of day.

    Examples
    --------
    >>> from kerndict.tabular import DateEncoder
    >>> DateEncoder().fit_transform([["1970-01-02"], ["1970-02-01"]])
    array([[ 1.,  2.,  4.],
           [31., 32.,  6.]])
    """

    formats_: NDArray
    has_time_: NDArray

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find out how the dates are written.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Text, or dates.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        columns = self._columns(X, reset=True)
        formats = [date_format(column) for column in columns]
        for i, form in enumerate(formats):
            if form is None:
                raise ValueError(f"column {i} holds no dates, or several kinds of them.")
        self.formats_ = np.array(formats, object)
        dates = self._dates(columns)
        self.has_time_ = np.array(
            [any(d is not None and d.time() != d.min.time() for d in each) for each in dates]
        )
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the numbers of each date.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Text, or dates.

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_numbers)
        """
        check_is_fitted(self)
        parts = []
        for dates, has_time in zip(
            self._dates(self._columns(X, reset=False)), self.has_time_, strict=True
        ):
            parts.append([_numbers(date, bool(has_time)) for date in dates])
        return np.hstack([np.array(part, np.float64).reshape(len(part), -1) for part in parts])

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        """Return the names of the numbers.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(
            [
                f"{name}_{part}"
                for name, has_time in zip(names, self.has_time_, strict=True)
                for part in ("days", "yearday", "weekday", *(["hour"] if has_time else []))
            ],
            object,
        )

    def _columns(self, X: ArrayLike, reset: bool) -> list[list[str]]:
        rows = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset)
        return [[_text(value) for value in column] for column in rows.T]

    def _dates(self, columns: Sequence[Sequence[str]]) -> list[list[datetime | None]]:
        found = []
        for column, form in zip(columns, self.formats_, strict=True):
            known = {cell: parse(cell, form) for cell in set(column)}
            found.append([known[cell] for cell in column])
        return found


def _text(value: Any) -> str:
    """Return a date as text, empty for a gap."""
    if value is None or value != value:  # NaN and NaT differ from themselves
        return ""
    return str(value).strip()


def _numbers(date: datetime | None, has_time: bool) -> list[float]:
    if date is None:
        return [np.nan] * (3 + has_time)
    found = [
        (date - _EPOCH).total_seconds() / 86400,
        float(date.timetuple().tm_yday),
        float(date.weekday()),
    ]
    return [*found, date.hour + date.minute / 60] if has_time else found
