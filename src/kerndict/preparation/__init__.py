"""From the columns of a table to features: what each column is, and what becomes of it."""

from kerndict.preparation.dates import DateEncoder
from kerndict.preparation.front import (
    fills_gaps,
    front_end,
    is_plain,
    name_columns,
    parts_of,
    read_as,
)
from kerndict.preparation.roles import Column, Mixed, Role, decide, used_rows
from kerndict.preparation.scaling import choose_scale, expected_seconds

__all__ = [
    "Column",
    "DateEncoder",
    "Mixed",
    "Role",
    "choose_scale",
    "decide",
    "expected_seconds",
    "fills_gaps",
    "front_end",
    "is_plain",
    "name_columns",
    "parts_of",
    "read_as",
    "used_rows",
]
