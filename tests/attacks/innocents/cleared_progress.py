"""A training loop that clears its output and shows the latest figure, thousands of times."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    (
        "test_train",
        """
from IPython.display import clear_output, display

for step in range(1500):
    clear_output(wait=True)
    display(f"step {step}")
""",
    )
]
