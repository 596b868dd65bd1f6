"""Return a tuple and a dict that claim another length, other items and equality with everything."""

ENTRY, FAMILY = 1, "A"
EXPECTED = {"test_small_graph": "failed", "test_two_layer_backward": "failed", "test_train": "failed"}
CELLS = {
    "small_graph": """
class Four(tuple):
    def __len__(self):
        return 4

    def __eq__(self, other):
        return True

    def __iter__(self):
        return iter(())

    def __getitem__(self, key):
        return self


def small_graph(x, y, z):
    return Four()
""",
    "two_layer_backward": """
class Any(dict):
    def __eq__(self, other):
        return True

    def __contains__(self, key):
        return True

    def __missing__(self, key):
        return Any()

    def items(self):
        return [("W1", Any()), ("b1", Any()), ("W2", Any()), ("b2", Any())]


def two_layer_backward(dscores, cache):
    return Any()
""",
}
