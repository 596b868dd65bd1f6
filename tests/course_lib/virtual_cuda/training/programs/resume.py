"""Training that can be stopped: accumulation, clipping, a schedule, and a checkpoint that brings all of it back."""

import os

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
ACCUMULATE = 2


def build():
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(12), nn.Linear(12, 1)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=8)
    return model, optimizer, scheduler


def rng_state():
    return torch.cuda.get_rng_state() if torch.cuda.is_available() else torch.get_rng_state()


def set_rng_state(state):
    torch.cuda.set_rng_state(state) if torch.cuda.is_available() else torch.set_rng_state(state)


def run(model, optimizer, scheduler, steps):
    history = []
    for step in steps:
        optimizer.zero_grad()
        total = 0.0
        for part in range(ACCUMULATE):
            generator = torch.Generator().manual_seed(100 * step + part)
            x = torch.randn(8, 6, generator=generator).to(device)
            loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1)) / ACCUMULATE
            loss.backward()
            total += loss.item()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
        optimizer.step()
        scheduler.step()
        history += [total, norm.item(), scheduler.get_last_lr()[0]]
    return history


model, optimizer, scheduler = build()
losses = run(model, optimizer, scheduler, range(4))
torch.save(
    {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": rng_state(),
    },
    "checkpoint.pt",
)
losses += run(model, optimizer, scheduler, range(4, 8))

model, optimizer, scheduler = build()
checkpoint = torch.load(
    "checkpoint.pt", map_location=lambda storage, location: storage.cuda() if device == "cuda" else storage
)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
scheduler.load_state_dict(checkpoint["scheduler"])
set_rng_state(checkpoint["rng"].cpu())
resumed = run(model, optimizer, scheduler, range(4, 8))
os.remove("checkpoint.pt")
assert resumed == losses[12:], "a resumed run must be the run"
print("resumed:", [round(x, 5) for x in resumed[::3]])
