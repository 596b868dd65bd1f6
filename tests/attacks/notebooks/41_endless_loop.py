"""Loop for ever in a cell and in a call."""

ENTRY, FAMILY = 41, "C"
EXPECTED = {"test_small_graph": "time", "test_numerical_gradient": "time"}
NBGRADER = "0 after its time limit"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    return 0.0


while True:
    pass
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    while True:
        pass
""",
}
