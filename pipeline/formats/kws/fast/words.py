"""Words and vectors of 64 bytes at addresses, for ``fast_kernel``: what LLVM knows and Numba has no name for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 64
_FACTORS = (
    *(0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5),
    *(0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3),
)


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic
def word_at(typing: Any, address: Any) -> Any:
    """The eight bytes at an address, aligned or not."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(builder, arguments[0], ir.IntType(64)), align=1)

    return types.uint64(types.int64), code


@intrinsic
def put_word(typing: Any, address: Any, word: Any) -> Any:
    """Eight bytes to an address."""

    def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], _pointer(builder, arguments[0], ir.IntType(64)), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), code


@intrinsic
def low_zeros(typing: Any, word: Any) -> Any:
    """How many low bits are 0; 64 for 0."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), code


def _sixty_four(builder: Any, address: Any) -> Any:
    """A vector of 64 bytes."""
    return builder.load(_pointer(builder, address, ir.VectorType(ir.IntType(8), LANES)), align=1)


def _splat(byte: int) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(8), LANES), [byte] * LANES)


def _first_bytes(builder: Any, n: Any) -> Any:
    """A mask of lanes below ``n``."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(8), LANES), list(range(LANES)))
    least = builder.select(builder.icmp_signed("<", n, n.type(LANES)), n, n.type(LANES))
    kind = ir.VectorType(ir.IntType(8), LANES)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), builder.trunc(least, ir.IntType(8)), _lane(0))
    everywhere = builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
    return builder.icmp_unsigned("<", lanes, everywhere)


def _lane(k: int) -> Any:
    return ir.Constant(ir.IntType(32), k)


@intrinsic
def quotes(typing: Any, address: Any) -> Any:
    """Which of 64 bytes are quotes, one bit each."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        found = builder.icmp_unsigned("==", _sixty_four(builder, arguments[0]), _splat(ord('"')))
        return builder.bitcast(found, ir.IntType(64))

    return types.uint64(types.int64), code


@intrinsic
def mixed_bytes(typing: Any, address: Any, n: Any) -> Any:
    """A number made of the first n bytes, of 64 at most."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zeros = _splat(0)
        kept = builder.select(_first_bytes(builder, arguments[1]), _sixty_four(builder, arguments[0]), zeros)
        kind = ir.VectorType(ir.IntType(64), 8)
        words = builder.mul(builder.bitcast(kept, kind), ir.Constant(kind, list(_FACTORS)))
        total = builder.extract_element(words, _lane(0))
        for k in range(1, 8):
            total = builder.add(total, builder.extract_element(words, _lane(k)))
        return total

    return types.uint64(types.int64, types.int64), code


@intrinsic
def alike(typing: Any, one: Any, other: Any, n: Any) -> Any:
    """Whether the first n bytes, of 64 at most, are the same."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        one, other = (_sixty_four(builder, address) for address in arguments[:2])
        differ = builder.and_(builder.icmp_unsigned("!=", one, other), _first_bytes(builder, arguments[2]))
        return builder.icmp_unsigned("==", builder.bitcast(differ, ir.IntType(64)), ir.IntType(64)(0))

    return types.boolean(types.int64, types.int64, types.int64), code
