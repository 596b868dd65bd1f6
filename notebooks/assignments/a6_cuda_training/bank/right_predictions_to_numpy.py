"""Reads the predictions of each batch as NumPy arrays, and counts there."""

CELLS = {
    "evaluate": """
import numpy as np


def evaluate(model, loader, loss_fn, device):
    mode = model.training
    model.eval()
    losses, hits, sizes = [], [], []
    with torch.inference_mode():
        for x, y in loader:
            out = model(x.to(device))
            losses.append(loss_fn(out, y.to(device)).item())
            hits.append(int((out.cpu().numpy().argmax(axis=1) == y.numpy()).sum()))
            sizes.append(len(y))
    model.train(mode)
    return float(np.average(losses, weights=sizes)), sum(hits) / sum(sizes)
"""
}
