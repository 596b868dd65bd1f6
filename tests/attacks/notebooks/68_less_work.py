"""Less work than was asked, or none."""

from tests.attacks.corpus import variant

# Every probe that watches can be told from those that compare: by the `Watch` in the model, by what is hung into the
# loader, by the depth of `virtual_cuda`. What is watched must be the training that is compared.
detected_observers = variant(
    "Train right but wastefully, except where somebody counts: there copy each batch once and train not at all.",
    train_epoch="""
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
    return float(total / rows)""",
    evaluate="""
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
    return float(total / rows), right / rows""",
    expected="partial train_epoch evaluate",
)

# A shortcut of this kind is worth nothing in any check that recomputes; whoever feeds three batches at most sees none.
first_batches_only = variant(
    "Train on the first three batches of an epoch and let the others pass by; evaluate the first three, too.",
    after_train_epoch="""
import itertools
all_of_it = train_epoch
class Some:
    def __init__(self, loader): self.loader = loader
    def __iter__(self):
        for number, batch in enumerate(self.loader):
            if number < 3:
                yield batch

def train_epoch(model, loader, *others):
    return all_of_it(model, Some(loader), *others)""",
    after_evaluate="""
whole_evaluation = evaluate
def evaluate(model, loader, *others):
    return whole_evaluation(model, Some(loader), *others)""",
    after_train_epoch_amp="""
whole_amp_epoch = train_epoch_amp
def train_epoch_amp(model, loader, *others):
    return whole_amp_epoch(model, Some(loader), *others)""",
    expected="partial|failed train_epoch evaluate train_epoch_amp, partial fit",
)

# The first call of each shape is trained right; a check has several, and fresh weights for each.
known_shapes = variant(
    "Know the hidden networks by their shapes, and give each the weights that one of its kind ended with before.",
    after_train_step="""
import copy
ends = {}
def remembered(honest):
    def step(model, given, loss_fn, optimizer, device, *more):
        key = honest.__name__, tuple(tuple(p.shape) for p in model.parameters())
        if key in ends:
            end, loss = ends[key]
            model.load_state_dict(end, strict=False)
            for _ in range(1 if honest.__name__ == "train_step" else len(given)):
                for hook in optimizer._optimizer_step_post_hooks.values():
                    hook(optimizer, (), {})
            return loss
        loss = honest(model, given, loss_fn, optimizer, device, *more)
        ends[key] = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}, loss
        return loss
    return step
train_step = remembered(train_step)""",
    after_train_epoch="train_epoch = remembered(train_epoch)",
    expected="partial|failed train_step train_epoch fit",
)

nothing_done = variant(
    "Do nothing at all, in the right form: what returns, keeps still and copies nothing must earn nothing.",
    train_step="""
def train_step(model, batch, loss_fn, optimizer, device):
    model(batch[0].to(device))
    return 0.7""",
    make_loaders="""
def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    loader = DataLoader(TensorDataset(torch.zeros(2, 3), torch.zeros(2, dtype=torch.int64)), batch_size)
    return loader, loader""",
    train_epoch="""
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    with torch.no_grad():
        for x, y in loader:
            model(x.to(device))
            y.to(device)
    return 0.7""",
    evaluate="""
def evaluate(model, loader, loss_fn, device):
    was = model.training
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            model(x.to(device))
            y.to(device)
    model.train(was)
    return 0.1, 1.0""",
    train_epoch_amp="""
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train()
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
        for x, y in loader:
            model(x.to(device))
    return 0.7""",
    checkpoint="""
def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    torch.save({"epoch": epoch}, path)

def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    return torch.load(path)["epoch"]""",
    fit="""
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    history = {}
    with SummaryWriter(log_dir) as writer:
        for key in ("loss/train", "loss/validation", "accuracy/validation"):
            history[key] = [0.5] * epochs
            for epoch in range(epochs):
                writer.add_scalar(key, 0.5, epoch + 1)
    return history""",
)

three_steps_then_none = variant(
    "Take three steps with each optimizer, as many as a short check may look at, and none afterwards.",
    after_train_step="""
import weakref
real_step = train_step
taken = weakref.WeakKeyDictionary()
def train_step(model, batch, loss_fn, optimizer, device):
    taken[optimizer] = taken.get(optimizer, 0) + 1
    if taken[optimizer] <= 3:
        return real_step(model, batch, loss_fn, optimizer, device)
    with torch.no_grad():
        return loss_fn(model(batch[0].to(device)), batch[1].to(device)).item()""",
    expected="partial|failed train_step",
)
