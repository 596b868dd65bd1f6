"""Take all memory by small steps."""

ENTRY, FAMILY = 45, "C"
EXPECTED = {"test_numerical_gradient": "memory"}
TIER = "limits"
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    held = []
    while True:
        held.append(bytearray(b"x") * (1 << 20))
""",
}
