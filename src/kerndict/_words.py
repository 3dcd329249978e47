"""Numbers in words for people."""


def clock(seconds: float) -> str:
    """Return a duration.

    >>> clock(7), clock(125), clock(7500)
    ('7 s', '2 min', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def span(low: int, high: int) -> str:
    """Return a range of counts.

    >>> span(3, 3), span(3, 5)
    ('3', '3 to 5')
    """
    return f"{low}" if low == high else f"{low} to {high}"


def counted(number: int, word: str) -> str:
    """Return a number of things, one or many.

    >>> counted(1, "round"), counted(2, "round")
    ('1 round', '2 rounds')
    """
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
