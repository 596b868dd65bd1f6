"""Evaluation on a copy of the model; histories in a defaultdict, with a key more; NumPy floats; rounded losses."""

EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = (part.to(device) for part in batch)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return round(loss.item(), 4)
""",
    "evaluate": """
import copy

import numpy as np


@torch.no_grad()
def evaluate(model, loader, loss_fn, device):
    twin = copy.deepcopy(model).eval()
    sums = np.zeros(3)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        scores = twin(x)
        sums += len(y) * loss_fn(scores, y).item(), (scores.argmax(-1) == y).sum().item(), len(y)
    return sums[0] / sums[2], sums[1] / sums[2]
""",
    "fit": """
from collections import defaultdict


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), learning_rate, momentum=0.9)
    curves, kept = defaultdict(list), None
    with SummaryWriter(log_dir) as writer:
        for epoch in range(epochs):
            optimizer.param_groups[0]["lr"] = rate = learning_rate * 0.8**epoch
            found = {"loss/train": train_epoch(model, train_loader, nn.CrossEntropyLoss(), optimizer, device)}
            measured = evaluate(model, val_loader, nn.CrossEntropyLoss(), device)
            found["loss/validation"], found["accuracy/validation"] = measured
            for tag, value in found.items():
                curves[tag].append(value)
                writer.add_scalar(tag, value, epoch + 1)
            curves["rate"].append(rate)
            if kept is None or measured[0] < kept[0]:
                kept = measured[0], {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept[1])
    return curves
""",
}
