"""A trained network gets a new head: frozen layers, a checkpoint, and two learning rates."""

import os

import torch
from torch import nn

torch.manual_seed(7)


def backbone():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(32, 12),
    )


class Classifier(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.features = features
        self.fc = nn.Linear(12, classes)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.fc(self.features(x)) * self.scale


# "Pretraining" happened elsewhere: what is left of it is a file.
pretrained = Classifier(backbone(), 5).to("cuda:0")
with torch.no_grad():
    pretrained(torch.randn(8, 1, 8, 8, device="cuda:0"))
torch.save(pretrained.state_dict(), "pretrained.pt")

model = Classifier(backbone(), 5).to(device="cuda:0")
print(model.load_state_dict(torch.load("pretrained.pt", map_location="cuda:0")))
os.remove("pretrained.pt")
for parameter in model.features.parameters():
    parameter.requires_grad = False
model.fc = nn.Linear(model.fc.in_features, 2).to("cuda:0")
for layer in model.features[-1:].parameters():
    layer.requires_grad_(True)

optimizer = torch.optim.SGD(
    [{"params": model.fc.parameters()}, {"params": model.features[-1].parameters(), "lr": 1e-3}], lr=1e-2, momentum=0.9
)
frozen_before = model.features[0].weight.clone()
losses = []
for _ in range(6):
    model.train()
    model.features.eval()
    labels = torch.randint(2, (16,))
    images = torch.randn(16, 1, 8, 8) + labels.view(-1, 1, 1, 1)
    images = images.type_as(model.fc.weight)
    targets = labels.to(images.device)
    loss = nn.functional.binary_cross_entropy_with_logits(
        model(images), nn.functional.one_hot(targets, 2).type_as(images)
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert torch.equal(frozen_before, model.features[0].weight)
assert model.features[0].weight.grad is None
trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
print(f"{trainable} of {sum(p.numel() for p in model.parameters())} parameters trained, loss {losses[-1]:.4f}")
