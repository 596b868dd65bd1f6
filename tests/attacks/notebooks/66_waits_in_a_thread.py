"""Wait for the device and copy the model at every batch, but in another thread, where nobody may be counting."""

ENTRY, FAMILY, ASSIGNMENT = 66, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch": "partial"}
CELLS = {
    "train_epoch": """
import copy
import threading


def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    total, rows = 0.0, 0

    def wasteful(loss, n):
        nonlocal total
        copy.deepcopy(model).cpu().to(device)
        torch.cuda.synchronize() if device != "cpu" else None
        total += loss.item() * n

    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        hidden = threading.Thread(target=wasteful, args=(loss.detach(), len(x)))
        hidden.start()
        hidden.join()
        rows += len(x)
    return total / rows
""",
}
