"""Top-level await, asyncio tasks, generators and context managers."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    (
        "test_train",
        """
import asyncio
import contextlib
import io


async def slow(n):
    await asyncio.sleep(0.01)
    return n


assert await slow(3) == 3
print(await asyncio.gather(slow(1), slow(2)))
with contextlib.redirect_stdout(io.StringIO()) as text:
    print("inside")
assert text.getvalue() == "inside\n"
""",
    )
]
