"""Packed vectors for compiled loops, where plain loops are left with scalar code.

A *tile* is a value made of ``count`` machine vectors of `BYTES` bytes each, that is of
``count * BYTES / itemsize`` numbers; LLVM splits it as the processor at hand needs.  Tiles are
loaded from and stored to raw pointers, free of bounds, wraparound and reference counts:

    at(array, i)              the address of ``array[i]``; of an address, that of the i-th after
    aligned(array)            the address of its first number on a boundary of `BYTES`
    load(p, i, count)         the tile ``p[i : i + size]``; `count` is a literal
    spread(value, count)      the tile of entries equal to a value
    store(p, i, x)            ``p[i : i + size] = x``
    times(x, y)               ``x * y``
    fma(x, y, z)              ``x * y + z``, rounded once where the processor can
    magnitude(x)              ``|x|``
    upper(x, top)             the larger of each lane of `top` (one vector) and all of x's
    largest(top)              the largest entry of a tile of one vector
    first_from(x, floor)      the place of the first entry at or above its floor, or the size

Scalars may stand for tiles of equal entries.  A NaN in x is passed over.  Nothing here
depends on the order of a sum, so results do not depend on the width of vectors.

Whoever makes a pointer keeps its array alive: pass arrays in as arguments, make none inside.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from kerndict.pursuit.shape import BYTES

_INDEX = ir.IntType(32)


class Tile(types.Type):
    """The type of a tile."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype, self.count, self.lanes = dtype, count, 8 * BYTES // dtype.bitwidth
        super().__init__(name=f"Tile({dtype}, {count})")


@register_model(Tile)
class _TileModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, tile: Tile) -> None:
        vector = ir.VectorType(dmm.lookup(tile.dtype).get_value_type(), tile.lanes)
        super().__init__(dmm, tile, ir.ArrayType(vector, tile.count))


@intrinsic
def at(typing: Any, array: Any, i: Any) -> Any:
    """Return the address of a number."""
    if isinstance(array, types.CPointer):
        return array(array, types.intp), lambda _, builder, __, args: builder.gep(args[0], args[1:])

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.gep(data, args[1:])

    return types.CPointer(array.dtype)(array, types.intp), build


@intrinsic
def aligned(typing: Any, array: Any) -> Any:
    """Return the address of the first number on a boundary of vectors."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        word = ir.IntType(64)
        place = builder.add(builder.ptrtoint(data, word), word(BYTES - 1))
        return builder.inttoptr(builder.and_(place, word(-BYTES)), data.type)

    return types.CPointer(array.dtype)(array), build


def _address(builder: Any, pointer: Any, i: Any, tile: Tile, part: int) -> Any:
    place = builder.gep(pointer, [builder.add(i, i.type(part * tile.lanes))])
    return builder.bitcast(place, ir.VectorType(place.type.pointee, tile.lanes).as_pointer())


@intrinsic(prefer_literal=True)
def load(typing: Any, pointer: Any, i: Any, count: Any) -> Any:
    """Return a tile from memory."""
    tile = Tile(pointer.dtype, count.literal_value)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = [_address(builder, args[0], args[1], tile, k) for k in range(tile.count)]
        return _join(builder, [builder.load(p, align=tile.dtype.bitwidth // 8) for p in places])

    return tile(pointer, types.intp, count), build


@intrinsic(prefer_literal=True)
def spread(typing: Any, value: Any, count: Any) -> Any:
    """Return a tile of equal entries."""
    tile = Tile(value, count.literal_value)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _join(builder, _parts(builder, args[0], tile))

    return tile(value, count), build


@intrinsic
def store(typing: Any, pointer: Any, i: Any, tile: Any) -> Any:
    """Write a tile to memory."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for k, part in enumerate(_parts(builder, args[2], tile)):
            place = _address(builder, args[0], args[1], tile, k)
            builder.store(part, place, align=tile.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(pointer, types.intp, tile), build


@intrinsic
def times(typing: Any, x: Any, y: Any) -> Any:
    """Return ``x * y``."""
    return _each(lambda builder, x, y: builder.fmul(x, y), x, y)


@intrinsic
def fma(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """Return ``x * y + z``."""
    return _each(lambda builder, *xyz: _call(builder, "fmuladd", *xyz), x, y, z)


@intrinsic
def magnitude(typing: Any, x: Any) -> Any:
    """Return ``|x|``."""
    return _each(lambda builder, x: _call(builder, "fabs", x), x)


@intrinsic
def upper(typing: Any, x: Any, top: Any) -> Any:
    """Return the largest of every lane of x and top, a tile of one vector without NaN."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        result = _parts(builder, args[1], top)[0]
        for part in _parts(builder, args[0], x):
            result = _larger(builder, part, result)
        return _join(builder, [result])

    return top(x, top), build


@intrinsic
def largest(typing: Any, top: Any) -> Any:
    """Return the largest entry of a tile of one vector."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _parts(builder, args[0], top)[0]
        while vector.type.count > 1:
            vector = _larger(builder, *_halves(builder, vector))
        return builder.extract_element(vector, _INDEX(0))

    return top.dtype(top), build


@intrinsic
def first_from(typing: Any, x: Any, floor: Any) -> Any:
    """Return the place of the first entry at or above its floor, or the size of the tile."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(x.count * x.lanes)
        bits = word(0)
        for k, (a, b) in enumerate(zip(*(_parts(builder, arg, x) for arg in args), strict=True)):
            part = builder.bitcast(builder.fcmp_ordered(">=", a, b), ir.IntType(x.lanes))
            part = builder.zext(part, word) if x.count > 1 else part
            bits = builder.or_(bits, builder.shl(part, word(k * x.lanes)))
        place = builder.cttz(bits, ir.IntType(1)(0))
        if word.width == 64:
            return place
        return (builder.zext if word.width < 64 else builder.trunc)(place, ir.IntType(64))

    return types.intp(x, floor if isinstance(floor, Tile) else x.dtype), build


def _each(operation: Callable, *operands: Any) -> Any:
    """Type and build an operation on every vector of its operands."""
    tile = next((kind for kind in operands if isinstance(kind, Tile)), operands[0])
    dtype = tile.dtype if isinstance(tile, Tile) else tile
    kinds = [kind if isinstance(kind, Tile) else dtype for kind in operands]

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if tile is dtype:
            return operation(builder, *args)
        parts = zip(*(_parts(builder, arg, tile) for arg in args), strict=True)
        return _join(builder, [operation(builder, *vectors) for vectors in parts])

    return tile(*kinds), build


def _parts(builder: Any, value: Any, tile: Tile) -> list:
    if isinstance(value.type, ir.ArrayType):
        return [builder.extract_value(value, k) for k in range(tile.count)]
    kind = ir.VectorType(value.type, tile.lanes)
    blank = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(blank, value, _INDEX(0))
    return [_pick(builder, one, [0] * tile.lanes)] * tile.count


def _join(builder: Any, parts: list) -> Any:
    tile = ir.Constant(ir.ArrayType(parts[0].type, len(parts)), ir.Undefined)
    for k, part in enumerate(parts):
        tile = builder.insert_value(tile, part, k)
    return tile


def _pick(builder: Any, vector: Any, places: list[int]) -> Any:
    blank = ir.Constant(vector.type, ir.Undefined)
    return builder.shuffle_vector(
        vector, blank, ir.Constant(ir.VectorType(_INDEX, len(places)), places)
    )


def _halves(builder: Any, vector: Any) -> list:
    n = vector.type.count
    return [_pick(builder, vector, list(range(k, k + n // 2))) for k in (0, n // 2)]


def _larger(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", x, y), x, y)


def _call(builder: Any, name: str, *args: Any) -> Any:
    kind = args[0].type
    suffix = (
        kind.intrinsic_name
        if not isinstance(kind, ir.VectorType)
        else (f"v{kind.count}{kind.element.intrinsic_name}")
    )
    function = ir.FunctionType(kind, [kind] * len(args))
    return builder.call(
        cgutils.get_or_insert_function(builder.module, function, f"llvm.{name}.{suffix}"), args
    )
