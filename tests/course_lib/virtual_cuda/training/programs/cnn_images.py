"""A convolutional network on small colour images, everything moved with `.cuda()`."""

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(6)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 3)
        self.fc1 = nn.Linear(16 * 3 * 3, 20)
        self.fc2 = nn.Linear(20, 4)

    def forward(self, x):
        x = self.pool(torch.relu(self.bn1(self.conv1(x))))
        x = torch.relu(self.conv2(x))
        x = self.pool(x)
        x = x.view(x.size(0), -1)
        return self.fc2(torch.relu(self.fc1(x)))


net = Net().cuda()
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0, 2.0])).cuda()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)

labels = torch.arange(64) % 4
images = torch.randn(64, 3, 16, 16) + labels.view(-1, 1, 1, 1)
losses = []
for epoch in range(2):
    running_loss = torch.zeros(1).cuda()
    for start in range(0, 64, 16):
        inputs, targets = images[start : start + 16].cuda(), labels[start : start + 16].cuda()
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.detach()
        losses.append(float(loss.detach()))
    torch.cuda.synchronize()
    print(f"[{epoch + 1}] loss: {running_loss.item() / 4:.3f}")

net.eval()
correct = torch.zeros(4, dtype=torch.long).cuda()
with torch.no_grad():
    predicted = net(images.cuda()).max(1)[1]
    for label, guess in zip(labels, predicted, strict=True):
        correct[label] += int(label == guess.cpu())
print("right by class:", correct.cpu().numpy().tolist())
losses += correct.tolist()
