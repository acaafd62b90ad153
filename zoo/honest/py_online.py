# The largest element and the sum in one pass, corrected when the largest grows.
def softmax_rows(x, y, dims, ws):
    values, cols = x.tolist(), dims[1]
    for start in range(0, len(values), cols):
        largest, total = values[start], 0.0
        for v in values[start : start + cols]:
            if v > largest:
                total *= exp(largest - v)
                largest = v
            total += exp(v - largest)
        for at in range(start, start + cols):
            y[at] = exp(values[at] - largest) / total
