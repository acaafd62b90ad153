# A loop that writes each element where it belongs.
def gelu_tanh(x, y, dims, ws):
    for at, v in enumerate(x):
        y[at] = 0.5 * v * (1.0 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)))
