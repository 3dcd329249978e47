"""Text of unknown origin, for terminals and for spreadsheets."""

import re

#: What controls a terminal, ends a line or turns the direction of what follows.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_FORMULA = re.compile(r"\s*[=+\-@]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def printable(text: str) -> str:
    r"""Return text in which nothing controls the terminal.

    >>> print(printable("\x1b[31mred\n"))
    \x1b[31mred\n
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def harmless(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula: with ``'`` before what would be one.

    >>> harmless("=1+1"), harmless("-1"), harmless("setosa")
    ("'=1+1", '-1', 'setosa')
    """
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
