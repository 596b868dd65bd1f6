"""Print gigabytes, without one line end. What is cut at the source counts as having run; here it never ends."""

ENTRY, FAMILY = 47, "C"
EXPECTED = {"test_small_graph": "time"}
AT_MOST_S = 60.0
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    return 0.0


line = "x" * 1_000_000
while True:
    print(line, end="")
""",
}
