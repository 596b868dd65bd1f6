"""Answer with a dict whose keys are long texts: the page that quotes them would be megabytes long."""

ENTRY, FAMILY = 47, "C"
EXPECTED = {"test_two_layer_backward": "failed", "test_train": "failed"}
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    return {"<script>" + str(number) + "x" * 3_000_000: 1.0 for number in range(2)}
""",
}
