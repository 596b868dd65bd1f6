"""A character-level LSTM that is asked to write; the device is a bare number."""

import torch
from torch import nn

TEXT = "the cat sat on the mat and the dog sat on the log " * 8
chars = sorted(set(TEXT))
stoi = {c: i for i, c in enumerate(chars)}
device = 0 if torch.cuda.is_available() else "cpu"
torch.manual_seed(3)


class CharRNN(nn.Module):
    def __init__(self, vocabulary, hidden=24, layers=2):
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.embed = nn.Embedding(vocabulary, 8)
        self.lstm = nn.LSTM(8, hidden, layers, batch_first=True, dropout=0.1)
        self.head = nn.Linear(hidden, vocabulary)

    def init_hidden(self, batch):
        weight = next(self.parameters())
        shape = self.layers, batch, self.hidden
        return weight.new_zeros(shape), weight.new_zeros(*shape)

    def forward(self, x, state):
        out, state = self.lstm(self.embed(x), state)
        return self.head(out), state


encoded = torch.tensor([stoi[c] for c in TEXT])
model = CharRNN(len(chars)).to(0) if device == 0 else CharRNN(len(chars))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
state = model.init_hidden(4)
rows = encoded[: len(encoded) // 4 * 4].view(4, -1)
losses = []
for start in range(0, rows.size(1) - 11, 10):
    x, y = rows[:, start : start + 10].to(device), rows[:, start + 1 : start + 11].to(device)
    state = tuple(s.detach() for s in state)
    logits, state = model(x, state)
    loss = criterion(logits.transpose(1, 2), y)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())

model.eval()
state = model.init_hidden(1)
letter = torch.full((1, 1), stoi["t"], device=device)
written = ["t"]
with torch.no_grad():
    for _ in range(30):
        logits, state = model(letter, state)
        letter = torch.multinomial(torch.softmax(logits[:, -1] / 0.8, dim=-1), 1)
        written.append(chars[letter])
print("".join(written))
