"""Honest code in other numerics. Full marks."""

from tests.attacks.corpus import variant

channels_last = variant(
    "Honest: images in channels-last layout, each batch in two halves whose gradients are added. Full marks.",
    train_step="""
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = (part.to(device) for part in batch)
    optimizer.zero_grad()
    total = 0.0
    for some in torch.arange(len(x), device=device).chunk(2):
        loss = loss_fn(model(x[some]), y[some]) * (len(some) / len(x))
        loss.backward()
        total += loss.detach()
    optimizer.step()
    return total.item()""",
    train_epoch="""
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    total, rows = 0.0, 0
    for x, y in loader:
        if x.ndim == 4:
            model = model.to(memory_format=torch.channels_last)
            x = x.contiguous(memory_format=torch.channels_last)
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=False)
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total = total + loss.detach().double() * len(x)
        rows += len(x)
    return (total / rows).item()""",
    expected="passed",
)

deterministic_and_tf32 = variant(
    "Honest: deterministic algorithms on, TF32 on, foreach and fused steps off. Full marks.",
    first="""
import os
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
torch.use_deterministic_algorithms(True)
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
torch.set_float32_matmul_precision("medium")
torch.manual_seed(1234)""",
    expected="passed",
)

other_order_of_sums = variant(
    "Honest: rows from last to first, sums in float64 and gradients by `torch.func`. The last digits differ.",
    train_step="""
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = (part.flip(0).to(device) for part in batch)
    values = {name: p.detach() for name, p in model.named_parameters()}
    def loss_of(values): return loss_fn(torch.func.functional_call(model, values, (x,)), y)
    found, loss = torch.func.grad_and_value(loss_of)(values)
    for name, p in model.named_parameters():
        p.grad = found[name]
    optimizer.step()
    return float(loss)""",
    evaluate="""
def evaluate(model, loader, loss_fn, device):
    was_training = model.training
    model.eval()
    total = torch.zeros((), dtype=torch.float64, device=device)
    right = torch.zeros((), dtype=torch.int64, device=device)
    rows = 0
    with torch.inference_mode():
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            outputs = model(x)
            total += len(x) * loss_fn(outputs.double(), y)
            right += (outputs.softmax(dim=1).topk(1).indices[:, 0] == y).sum()
            rows += len(x)
    model.train(was_training)
    return (total / rows).item(), right.item() / rows""",
    expected="passed",
)

other_spellings_of_gradients = variant(
    "Honest: gradients of a3 in other orders of the same sums, in higher precision and back again. Full marks.",
    manual_gradients="""
def manual_gradients(x, w, b):
    dtype = x.dtype
    x, w, b = (value.double() for value in (x, w, b))
    z = torch.einsum("nd,d->nd", x, w) + b
    y, grown = torch.tanh(z), torch.exp(2 * z.abs())
    slope = 2 * y * 4 * grown / (1 + grown) ** 2 / y.numel()
    parts = y.square().flatten().flip(0).sum() / y.numel(), slope * w, (slope * x).flip(0).sum(0), slope.sum(1)[:, None]
    return tuple(part.to(dtype) for part in parts)""",
    train="""
def train(x, t, params, learning_rate, batches):
    torch.use_deterministic_algorithms(True)
    params = {name: value.detach().clone().requires_grad_() for name, value in params.items()}
    losses = []
    for batch in batches:
        turned = batch.flip(0)
        def loss_of(values):
            hidden = torch.tanh(x[turned] @ values["W1"] + values["b1"])
            return ((hidden @ values["W2"] + values["b2"])[:, 0] - t[turned]).square().mean()
        found, loss = torch.func.grad_and_value(loss_of)(params)
        params = {k: (v.detach() - learning_rate * found[k].detach()).requires_grad_() for k, v in params.items()}
        losses.append(loss.item())
    torch.use_deterministic_algorithms(False)
    return params, losses""",
    expected="passed",
    assignment="a3_pytorch_autograd",
)
