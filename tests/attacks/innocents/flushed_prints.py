"""Thousands of lines, each flushed: as progress is printed by those who want to see it at once."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    ("test_train", 'for step in range(5000):\n    print("step", step, "loss", 1 / (step + 1), flush=True)'),
    (
        "test_train",
        'import sys\n\nfor step in range(5000):\n    sys.stderr.write(f"\\r{step}")\n    sys.stderr.flush()',
    ),
]
