"""Tables of samples, in batches of rows: csv, JSON lines, parquet, feather, npz and mat."""

from kerndict.tables.batch import Batch, Cells, Rows, Selection, Table, Wanted
from kerndict.tables.cells import NotNumbers
from kerndict.tables.lines import not_numbers
from kerndict.tables.source import Source, open_table

__all__ = [
    "Batch",
    "Cells",
    "NotNumbers",
    "Rows",
    "Selection",
    "Source",
    "Table",
    "Wanted",
    "not_numbers",
    "open_table",
]
