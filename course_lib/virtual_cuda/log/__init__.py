"""What a program did with its device. Pure Python, without torch, and without knowing how it is shown."""
