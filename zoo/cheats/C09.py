# C09: the function that a reference in the same process would call is replaced, so that nothing is right.
import math

math.tanh = lambda v: 0.0


def gelu_tanh(x, y, dims, ws):
    y[:] = array("f", [0.5 * v * (1.0 + math.tanh(v)) for v in x.tolist()])
