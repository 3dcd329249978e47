"""Ways to damage the bytes of a file, whatever it holds.

Each takes the bytes, those of another file and a generator; place by place they prefer what says
what the rest is: headers and footers.
"""

HOT = 1024


def place(data, rng):
    """Return a place, as often in a header or a footer as in the rest."""
    if not data:
        return 0
    if data[8:9] == b"{":  # the length of the header comes first
        header = min(len(data), 8 + int.from_bytes(data[:8], "little"))
        return rng.randrange(header if rng.random() < 0.5 else len(data))
    way, near = rng.random(), min(HOT, len(data))
    if way < 0.5:
        return rng.randrange(len(data))
    return rng.randrange(near) + (len(data) - near if way < 0.75 else 0)


def flip(data, other, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 3, 10])):
        if data:
            data[place(data, rng)] ^= 1 << rng.randrange(8)
    return bytes(data)


def overwrite(data, other, rng):
    start, size = place(data, rng), rng.randrange(1, 17)
    fill = rng.choice([rng.randbytes(size), b"\xff" * size, b"\0" * size, b"9" * size])
    return data[:start] + fill + data[start + size :]


def cut(data, other, rng):
    start = place(data, rng)
    return data[:start] + rng.choice([b"", data[start + rng.randrange(1, 100) :]])


def splice(data, other, rng):
    start, begin = place(data, rng), place(other, rng)
    piece = other[begin : begin + rng.randrange(1, 300)]
    return data[:start] + piece + data[start + rng.choice([0, len(piece)]) :]


def resize(data, other, rng):
    """Write a length over the first bytes, or somewhere."""
    width = rng.choice([4, 8])
    lengths = [0, 1, 2**20, 2**20 + 1, 2**31 - 1, 2**32 - 1, len(data), len(data) // 2]
    length = rng.choice([*lengths, *([2**32, 2**63, 2**64 - 1] if width == 8 else [])])
    start = rng.choice([0, place(data, rng)])
    return (
        data[:start]
        + length.to_bytes(width, "little")
        + data[start + width :]
        + rng.choice([b"", b"", b"", bytes(2**20)])
    )


def redigit(data, other, rng):
    """Change digits of written numbers: shapes, offsets, versions, cells."""
    near = sorted({place(data, rng) for _ in range(200)} if data else [])
    digits = [i for i in near if chr(data[i]).isdigit()]
    data = bytearray(data)
    for i in rng.sample(digits, min(len(digits), rng.randrange(1, 4))):
        data[i] = ord(rng.choice("0123456789"))
    return bytes(data)


BYTES = [flip, overwrite, cut, splice, resize, redigit]
