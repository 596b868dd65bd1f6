"""torch.func on the given x: what requires gradients leaves results that do."""

EXPECTED = {"test_jacobian": "partial:vjp-and-jacobian-carry-graphs"}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    y, pull = torch.func.vjp(f, x)
    return y, pull(v)[0]


def jacobian(f, x):
    return torch.func.jacrev(f)(x)
""",
}
