"""A generative adversarial network in the old style: tensor types instead of devices."""

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(5)
np.random.seed(5)
cuda = bool(torch.cuda.is_available())
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor

generator = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16, 0.8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1), nn.Sigmoid())
adversarial_loss = torch.nn.BCELoss()
if cuda:
    generator.cuda()
    discriminator.cuda()
    adversarial_loss.cuda()


def init_weights(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight.data, 0.0, 0.2)
        nn.init.constant_(module.bias.data, 0.0)


generator.apply(init_weights)
discriminator.apply(init_weights)
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
losses = []
for _ in range(10):
    angles = np.random.rand(16) * 2 * np.pi
    points = torch.from_numpy(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    valid = Variable(Tensor(points.size(0), 1).fill_(1.0), requires_grad=False)
    fake = Variable(Tensor(points.size(0), 1).fill_(0.0), requires_grad=False)
    real = Variable(points.type(Tensor))

    optimizer_G.zero_grad()
    z = Variable(Tensor(np.random.normal(0, 1, (points.shape[0], 4))))
    made = generator(z)
    g_loss = adversarial_loss(discriminator(made), valid)
    g_loss.backward()
    optimizer_G.step()

    optimizer_D.zero_grad()
    real_loss = adversarial_loss(discriminator(real), valid)
    fake_loss = adversarial_loss(discriminator(made.detach()), fake)
    d_loss = (real_loss + fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()
    losses += [g_loss.item(), d_loss.item()]
print(f"[D loss: {d_loss.item():f}] [G loss: {g_loss.item():f}] {made.data.cpu().numpy().shape}")
