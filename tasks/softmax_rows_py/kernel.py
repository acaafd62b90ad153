"""The best of the standard library: comprehensions over plain floats, one copy into the output."""
from array import array
from math import exp


def softmax_rows(x, y, dims, ws):
    values, cols, out = x.tolist(), dims[1], []
    for start in range(0, len(values), cols):
        row = values[start : start + cols]
        largest = max(row)
        row = [exp(v - largest) for v in row]
        inverse = 1.0 / sum(row)
        out += [v * inverse for v in row]
    y[:] = array("f", out)
