"""A network too large for one device: its halves are on two, and the activations travel."""

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(10)


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = torch.nn.Linear(10, 10).to("cuda:0")
        self.relu = torch.nn.ReLU()
        self.net2 = torch.nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = self.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.to("cuda:1"))


class PipelinedModel(ToyModel):
    """The second half works on one piece while the first half works on the next."""

    def forward(self, x, split_size=5):
        pieces = iter(x.split(split_size, dim=0))
        previous = self.relu(self.net1(next(pieces).to("cuda:0"))).to("cuda:1")
        outputs = []
        for piece in pieces:
            outputs.append(self.net2(previous))
            previous = self.relu(self.net1(piece.to("cuda:0"))).to("cuda:1")
        outputs.append(self.net2(previous))
        return torch.cat(outputs)


losses = []
for make in (ToyModel, PipelinedModel):
    model = make()
    loss_fn = nn.MSELoss()
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    for _ in range(4):
        optimizer.zero_grad()
        outputs = model(torch.randn(20, 10))
        labels = torch.randn(20, 5).to("cuda:1")
        loss = loss_fn(outputs, labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert model.net1.weight.grad.device == model.net1.weight.device
    assert model.net2.weight.grad.device == outputs.device
print(f"loss {losses[-1]:.4f}")
