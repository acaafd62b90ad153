# A class with a forward method, which returns a list.
class ModelNew:
    def forward(self, x, dims):
        return [0.5 * v * (1.0 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))) for v in x]
