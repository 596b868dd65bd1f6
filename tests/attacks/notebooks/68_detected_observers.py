"""Train right but wastefully, except where somebody counts: there copy each batch once and train not at all.

Every probe that watches can be told from those that compare: by the `Watch` in the model, by what is hung into the
loader, by the depth of `virtual_cuda`. What is watched must be the training that is compared.
"""

ENTRY, FAMILY, ASSIGNMENT = 68, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch": "partial", "test_evaluate": "partial"}
CELLS = {
    "train_epoch": """
import copy

kept = []
usual = virtual_cuda._on.depth if virtual_cuda._on else 0


def is_watched(model, loader):
    hung_in = loader.collate_fn.__closure__[0].cell_contents is not None
    deeper = virtual_cuda._on is not None and virtual_cuda._on.depth > usual
    return type(model[-1]).__name__ == "Watch" or hung_in or deeper


def train_epoch(model, loader, loss_fn, optimizer, device):
    if getattr(loader, "collate_fn", None).__closure__ and is_watched(model, loader):
        model.train()
        for x, y in loader:
            model(x.to(device))
            y.to(device)
        return 0.5
    model.train()
    total, rows = 0.0, 0
    for x, y in loader:
        kept.append(copy.deepcopy(model).cpu())
        model.load_state_dict(kept[-1].state_dict())
        optimizer.zero_grad()
        loss = loss_fn(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss * len(x)
        rows += len(x)
        str(loss)
    return float(total / rows)
""",
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    was_training = model.training
    model.eval()
    if loader.collate_fn.__closure__ and is_watched(model, loader):
        with torch.no_grad():
            for x, y in loader:
                model(x.to(device))
                y.to(device)
        return 0.5, 0.5
    total, right, rows = 0.0, 0, 0
    for x, y in loader:
        outputs = model(x.to(device))
        total += loss_fn(outputs, y.to(device)) * len(x)
        right += sum(int(outputs[i].argmax().item()) == int(y[i]) for i in range(len(x)))
        rows += len(x)
    model.train(was_training)
    return float(total / rows), right / rows
""",
}
