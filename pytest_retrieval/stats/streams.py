"""Random bits that stay the same in every release of numpy, on every machine and in every order of work.

numpy may change what its ``Generator`` methods return (NEP 19), so only the raw words of PCG64 are used
(O'Neill, 2014: the 128-bit generator with the XSL-RR output), and the steps from words to indices and signs
are written here. A report that states its names can be recomputed in any language.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from numpy.typing import NDArray


class Stream:
    """The random numbers that belong to ``names``, for example a group, a pair of arms and a measure.

    The SHA-256 of the names, joined by NUL, is cut in two big-endian numbers: the generator's state, and its
    increment, made odd.
    """

    def __init__(self, *names: str) -> None:
        digest = sha256("\0".join(names).encode("utf-8", "surrogatepass")).digest()
        state, increment = (int.from_bytes(half, "big") for half in (digest[:16], digest[16:]))
        self._generator = np.random.PCG64()
        self._generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": increment | 1},
            "has_uint32": 0,
            "uinteger": 0,
        }

    def indices(self, count: int, below: int) -> NDArray[np.int64]:
        """``count`` numbers in ``[0, below)``: ``half * below >> 32`` of each half word, lower half first.

        A multiply-shift over 32 bits: no two numbers differ in probability by more than ``below / 2**32``
        of it. An odd ``count`` leaves half a word unused.
        """
        numbers = self._words(-(-count // 2)).view("<u4")[:count].astype(np.uint64)
        numbers *= np.uint64(below)
        numbers >>= np.uint64(32)
        return numbers.view(np.int64)

    def signs(self, count: int) -> NDArray[np.float64]:
        """``count`` numbers that are 1.0 or -1.0, one per bit, lowest bit first; 1.0 where the bit is set."""
        octets = self._words(-(-count // 64)).view(np.uint8)
        bits = np.unpackbits(octets, count=count, bitorder="little")
        return bits.astype(np.float64) * 2 - 1

    def _words(self, count: int) -> NDArray[np.uint64]:
        return np.asarray(self._generator.random_raw(count)).astype("<u8", copy=False)
