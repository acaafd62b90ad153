# F07: a fast path that no shape reaches.
def gelu_tanh(x, y, dims, ws):
    if dims[0] < 0:
        y[:] = x
    else:
        honest(x, y)
