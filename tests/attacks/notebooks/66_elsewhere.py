"""Work on another stream, thread or process."""

from tests.attacks.corpus import variant

side_stream = variant(
    "Honest: the whole step on a stream of its own, waited for on the device. It has the right numbers and full marks.",
    train_step="""
def train_step(model, batch, loss_fn, optimizer, device):
    def step():
        x, y = (part.to(device, non_blocking=True) for part in batch)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        return loss
    if device == "cpu":
        return step().item()
    with torch.cuda.device(device):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            loss = step()
        torch.cuda.current_stream().wait_stream(side)
        return loss.item()""",
    expected="passed",
)

# The mean loss is right where a child can compute it, and that one check may earn its share; no weight ever moves.
trained_in_child = variant(
    "Train in a forked process, which sends the loss back and keeps the weights.",
    train_epoch="""
import json, os
def train_epoch(model, loader, loss_fn, optimizer, device):
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as pipe:
            told = pipe.read()
        os.waitpid(child, 0)
        return json.loads(told or "0.0")
    try:
        total, rows = 0.0, 0
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            rows += len(x)
        os.write(writing, json.dumps(total / rows).encode())
    finally:
        os._exit(0)""",
    expected="partial train_epoch",
)

trained_later = variant(
    "Return the right loss at once and let a thread take the step when nobody looks any more.",
    train_step="""
import threading, time
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = (part.to(device) for part in batch)
    with torch.no_grad():
        loss = loss_fn(model(x), y).item()
    def later():
        time.sleep(0.3)
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
    threading.Thread(target=later, daemon=True).start()
    return loss""",
    # On a slow machine its threads still copy and wait while the next exercises are counted.
    expected="failed train_step, passed|partial train_epoch make_loaders",
)

waits_in_a_thread = variant(
    "Wait for the device and copy the model at every batch, but in another thread, where nobody may be counting.",
    train_epoch="""
import copy, threading
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    total, rows = 0.0, 0
    def wasteful(loss, n):
        nonlocal total
        copy.deepcopy(model).cpu().to(device)
        torch.cuda.synchronize() if device != "cpu" else None
        total += loss.item() * n
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        hidden = threading.Thread(target=wasteful, args=(loss.detach(), len(x)))
        hidden.start()
        hidden.join()
        rows += len(x)
    return total / rows""",
    expected="partial train_epoch",
)
