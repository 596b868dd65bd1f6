"""A small causal language model, made on the device by a `with` block."""

import math

import torch
from torch import nn

torch.manual_seed(4)
VOCABULARY, WIDTH, CONTEXT = 16, 24, 12


class PositionalEncoding(nn.Module):
    def __init__(self):
        super().__init__()
        position = torch.arange(CONTEXT).unsqueeze(1)
        rates = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        table = torch.zeros(CONTEXT, WIDTH)
        table[:, 0::2] = torch.sin(position * rates)
        table[:, 1::2] = torch.cos(position * rates)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(1)]


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.position = PositionalEncoding()
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 48, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.size(1), device=tokens.device)
        x = self.position(self.embed(tokens) * math.sqrt(WIDTH))
        return self.head(self.encoder(x, mask=mask, is_causal=True))


with torch.device("cuda"):
    model = LanguageModel()
    start = torch.randint(VOCABULARY, (32, 1))
    sequences = (start + 3 * torch.arange(CONTEXT)) % VOCABULARY
assert model.position.table.device == sequences.device

optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4))
losses = []
for _ in range(8):
    batch = sequences[torch.randperm(32, device="cuda")[:16]]
    logits = model(batch[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), batch[:, 1:].reshape(-1), label_smoothing=0.0)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    warmup.step()
    losses.append(loss.item())
print(f"perplexity {math.exp(losses[-1]):.3f}, learning rate {warmup.get_last_lr()[0]:.4f}")

model.eval()
text = sequences[:1, :4]
for _ in range(4):
    with torch.no_grad():
        text = torch.cat([text, model(text)[:, -1].argmax(-1, keepdim=True)], dim=1)
print(text.tolist())
