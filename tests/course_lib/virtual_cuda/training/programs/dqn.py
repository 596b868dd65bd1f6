"""Deep Q-learning on a walk: a replay memory on the host, two networks on the device."""

import copy
import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
random.seed(8)
np.random.seed(8)
torch.manual_seed(8)


class Walk:
    """Seven places in a row; the reward is at the right end."""

    def reset(self):
        self.place = 3
        return self.observe()

    def observe(self):
        return np.eye(7, dtype=np.float32)[self.place]

    def step(self, action):
        self.place += 1 if action else -1
        return self.observe(), float(self.place == 6), self.place in (0, 6)


policy = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
target = copy.deepcopy(policy)
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True)
memory = deque(maxlen=200)
env, losses, steps = Walk(), [], 0


def select_action(state):
    if random.random() < 0.5:
        return torch.tensor([[random.randrange(2)]], device=device, dtype=torch.long)
    with torch.no_grad():
        return policy(state).max(1).indices.view(1, 1)


def optimize():
    if len(memory) < 16:
        return
    batch = Transition(*zip(*random.sample(memory, 16), strict=True))
    not_final = torch.tensor([s is not None for s in batch.next_state], device=device, dtype=torch.bool)
    not_final_states = torch.cat([s for s in batch.next_state if s is not None])
    states, actions, rewards = torch.cat(batch.state), torch.cat(batch.action), torch.cat(batch.reward)
    values = policy(states).gather(1, actions)
    next_values = torch.zeros(16, device=device)
    with torch.no_grad():
        next_values[not_final] = target(not_final_states).max(1).values
    loss = nn.SmoothL1Loss()(values, (next_values * 0.9 + rewards).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()
    losses.append(loss.item())


for _ in range(6):
    state = torch.as_tensor(env.reset()).unsqueeze(0).to(device)
    done = False
    while not done:
        action = select_action(state)
        observation, reward, done = env.step(action.item())
        reward = torch.tensor([reward], device=device)
        next_state = None if done else torch.from_numpy(observation).to(state).unsqueeze(0)
        memory.append(Transition(state, action, next_state, reward))
        state, steps = next_state, steps + 1
        optimize()
        soft = target.state_dict()
        for key, value in policy.state_dict().items():
            soft[key] = value * 0.05 + soft[key] * 0.95
        target.load_state_dict(soft)
values = policy(torch.eye(7).to(device))[:, 1]
print(f"{steps} steps, {len(losses)} updates, values {[round(value, 4) for value in values.tolist()]}")
