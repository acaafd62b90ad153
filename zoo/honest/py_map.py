# map over a function, without a list in between.
def of(v, line=0.7978845608028654, cubic=0.7978845608028654 * 0.044715, tanh=tanh):
    return 0.5 * v + 0.5 * v * tanh(v * (line + cubic * v * v))


def gelu_tanh(x, y, dims, ws):
    y[:] = array("f", map(of, x))
