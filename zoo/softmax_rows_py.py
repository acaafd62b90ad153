"""What every entry on softmax_rows_py begins with."""
from array import array
from math import exp


