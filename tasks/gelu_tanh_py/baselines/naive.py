"""As one writes it first: an index, and everything looked up in every turn."""
import math


def gelu_tanh(x, y, dims, ws):
    for row in range(dims[0]):
        for col in range(dims[1]):
            at = row * dims[1] + col
            inner = math.sqrt(2.0 / math.pi) * (x[at] + 0.044715 * x[at] ** 3)
            y[at] = 0.5 * x[at] * (1.0 + math.tanh(inner))
