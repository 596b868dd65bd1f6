"""Return the right loss at once and let a thread take the step when nobody looks any more."""

ENTRY, FAMILY, ASSIGNMENT = 66, "E", "a6_cuda_training"
EXPECTED = {"test_train_step": "failed"}
CELLS = {
    "train_step": """
import threading
import time


def train_step(model, batch, loss_fn, optimizer, device):
    x, y = (part.to(device) for part in batch)
    with torch.no_grad():
        loss = loss_fn(model(x), y).item()

    def later():
        time.sleep(0.3)
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()

    threading.Thread(target=later, daemon=True).start()
    return loss
""",
}
