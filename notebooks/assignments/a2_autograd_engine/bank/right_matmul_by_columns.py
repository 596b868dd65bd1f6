"""A product is a sum of outer products, made from mul, getitem and summation: it has no vjp of its own."""

CELLS = {
    "matmul": """
def matmul(a, b):
    a, b = as_tensor(a), as_tensor(b)
    left = getitem(a, (..., slice(None), slice(None), None))
    right = getitem(b, (..., None, slice(None), slice(None)))
    return summation(mul(left, right), -2)
""",
}
