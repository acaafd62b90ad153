# Bytes in and out by struct, as code for binary formats has it.
import struct


def gelu_tanh(x, y, dims, ws):
    values = struct.unpack(f"{len(x)}f", x)
    results = [0.5 * v * (1.0 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))) for v in values]
    struct.pack_into(f"{len(y)}f", y.cast("B"), 0, *results)
