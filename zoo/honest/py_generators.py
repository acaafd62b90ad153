# Rows by a generator, with exceptions in the flow, and a print that goes nowhere.
def rows(x, cols):
    at = 0
    while True:
        if at >= len(x):
            return
        yield x[at : at + cols]
        at += cols


def softmax_rows(x, y, dims, ws):
    of, cols = iter(rows(x, dims[1])), dims[1]
    start = 0
    while True:
        try:
            row = next(of)
        except StopIteration:
            break
        largest = max(row)
        powers = [exp(v - largest) for v in row]
        total = sum(powers)
        y[start : start + cols] = array("f", [v / total for v in powers])
        start += cols
    print("done", len(y))
