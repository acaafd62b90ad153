"""As one writes it first: three loops with an index."""
import math


def softmax_rows(x, y, dims, ws):
    rows, cols = dims
    for row in range(rows):
        largest = x[row * cols]
        for col in range(cols):
            if x[row * cols + col] > largest:
                largest = x[row * cols + col]
        total = 0.0
        for col in range(cols):
            total += math.exp(x[row * cols + col] - largest)
        for col in range(cols):
            y[row * cols + col] = math.exp(x[row * cols + col] - largest) / total
