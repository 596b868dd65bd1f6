"""A variational autoencoder under `set_default_device`: no tensor is ever moved."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.set_default_device("cuda")
torch.manual_seed(6)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(20, 16)
        self.mean, self.logvar = nn.Linear(16, 3), nn.Linear(16, 3)
        self.decode = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 20), nn.Sigmoid())

    def forward(self, x):
        hidden = F.relu(self.encode(x))
        mean, logvar = self.mean(hidden), self.logvar(hidden)
        std = torch.exp(0.5 * logvar)
        return self.decode(mean + torch.randn_like(std) * std), mean, logvar


def loss_function(reconstruction, x, mean, logvar):
    bce = F.binary_cross_entropy(reconstruction, x, reduction="sum")
    return bce - 0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())


corners = torch.eye(4).repeat_interleave(5, dim=1)
data = [row for row in corners[torch.randint(4, (64,))]]
loader = DataLoader(data, batch_size=16, shuffle=True, generator=torch.Generator(device="cuda").manual_seed(6))
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for _ in range(2):
    model.train()
    for x in loader:
        optimizer.zero_grad()
        reconstruction, mean, logvar = model(x)
        loss = loss_function(reconstruction, x, mean, logvar)
        loss.backward()
        optimizer.step()
        losses.append(loss.item() / len(x))
with torch.no_grad():
    sample = model.decode(torch.zeros(2, 3) + torch.tensor([[0.0], [1.0]]))
    print(f"loss {losses[-1]:.3f}, samples on {sample.device.type == model.encode.weight.device.type}")
