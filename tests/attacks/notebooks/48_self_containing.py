"""Return lists that contain themselves, a thousand levels, or a million things."""

ENTRY, FAMILY = 48, "C"
EXPECTED = {"test_small_graph": "failed", "test_softmax_cross_entropy": "failed", "test_train": "failed"}
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    inside = [1.0]
    inside.append(inside)
    return inside, inside, inside, inside
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    return [[0.0]] * 1_000_000, {number: number for number in range(500_000)}
""",
}
