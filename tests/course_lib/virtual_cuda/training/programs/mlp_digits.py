"""A perceptron learns to tell pictures of bars apart."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(1)


def make_digits(count):
    labels = torch.randint(10, (count,))
    images = 0.3 * torch.randn(count, 1, 10, 10)
    images[torch.arange(count), 0, labels] += 1
    return TensorDataset(images, labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(100, 32)
        self.dropout = nn.Dropout(0.2)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = torch.flatten(x, 1)
        x = self.dropout(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, loader, optimizer):
    model.train()
    for data, target in loader:
        data, target = data.to(device, non_blocking=True), target.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


def test(model, loader):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            prediction = output.argmax(dim=1, keepdim=True)
            correct += prediction.eq(target.view_as(prediction)).sum().item()
    print(f"average loss {test_loss / len(loader.dataset):.4f}, {correct}/{len(loader.dataset)} right")
    losses.append(test_loss)


losses = []
options = {"num_workers": 1, "pin_memory": True} if device.type == "cuda" else {}
train_loader = DataLoader(make_digits(256), batch_size=32, shuffle=True, **options)
test_loader = DataLoader(make_digits(100), batch_size=50, **options)
model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
for _ in range(2):
    train(model, train_loader, optimizer)
    test(model, test_loader)
    scheduler.step()
