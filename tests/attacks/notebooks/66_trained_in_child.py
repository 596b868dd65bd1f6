"""Train in a forked process, which sends the loss back and keeps the weights.

The mean loss is right where a child can compute it, and that one check may earn its share; no weight ever moves.
"""

ENTRY, FAMILY, ASSIGNMENT = 66, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch": "partial", "test_fit": "failed"}
CELLS = {
    "train_epoch": """
import json
import os


def train_epoch(model, loader, loss_fn, optimizer, device):
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as pipe:
            told = pipe.read()
        os.waitpid(child, 0)
        return json.loads(told or "0.0")
    try:
        total, rows = 0.0, 0
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            rows += len(x)
        os.write(writing, json.dumps(total / rows).encode())
    finally:
        os._exit(0)
""",
}
