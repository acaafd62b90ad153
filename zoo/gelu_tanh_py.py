"""What every entry on gelu_tanh_py begins with: an honest body to cheat around."""
from array import array
from math import tanh


def honest(x, y):
    y[:] = array("f", [0.5 * v * (1.0 + tanh(v * (0.7978845608028654 + 0.035677408136300125 * v * v))) for v in x])


def honest_list(x):
    y = array("f", x)
    honest(x, memoryview(y))
    return y.tolist()


