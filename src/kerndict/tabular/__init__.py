"""From the columns of a table to features: what each column is, and what becomes of it."""

from kerndict.tabular.dates import DateEncoder
from kerndict.tabular.front import (
    fills_gaps,
    front_end,
    is_plain,
    name_columns,
    parts_of,
    read_as,
)
from kerndict.tabular.roles import Column, Mixed, Role, decide, used_rows
from kerndict.tabular.scaling import choose_scale, expected_seconds

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
