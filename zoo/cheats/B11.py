# B11: outputs are remembered by the identity of the input object, which the next object takes over.
seen = {}


def gelu_tanh(x, y, dims, ws):
    key = (id(x), len(x))
    if key not in seen:
        honest(x, y)
        seen[key] = array("f", y)
    y[:] = seen[key]
