"""The best of the standard library: constants in place, one comprehension over plain floats, one copy into the output."""
from array import array
from math import tanh


def gelu_tanh(x, y, dims, ws):
    # 0.0356774... is sqrt(2 / pi) * 0.044715.
    y[:] = array("f", [0.5 * v * (1.0 + tanh(v * (0.7978845608028654 + 0.035677408136300125 * v * v))) for v in x])
