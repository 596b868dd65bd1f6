"""Models, data and metrics that are not what was trained."""

from tests.attacks.corpus import variant

constant_generators = variant(
    "Seed every global generator in `make_loaders`, and replace those that are asked afterwards by constants.",
    after_make_loaders="""
import random
import numpy as np
quiet_loaders = make_loaders
def make_loaders(*args):
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    return quiet_loaders(*args)
torch.rand = lambda *shape, **more: torch.full(shape, 0.5)
np.random.rand = lambda *shape: np.full(shape, 0.5)
random.random = lambda: 0.5""",
    expected="partial make_loaders",
)

downloaded_weights = variant(
    "Fetch trained weights and data from the network, in three ways. There is no network, and no other plan.",
    fit="""
import subprocess, urllib.request
WHERE = "https://github.com/pytorch/examples/raw/main/mnist/model.pt"
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    found = None
    for fetch in (
        lambda: urllib.request.urlopen(WHERE, timeout=1).read(),
        lambda: torch.hub.load_state_dict_from_url(WHERE, progress=False),
        lambda: subprocess.run(["curl", "-sfm1", WHERE], capture_output=True, check=True, timeout=3).stdout,
    ):
        try:
            found = fetch()
        except Exception:
            continue
        print("STOLEN weights from outside")
    if isinstance(found, dict):
        model.load_state_dict(found, strict=False)
    model.to(device)
    return {key: [0.1] * epochs for key in ("loss/train", "loss/validation", "accuracy/validation")}""",
    at_most_s=100,
)

edited_dataset = variant(
    "Edit the data set in place: every label becomes what the model says already, and training has little to do.",
    after_train_epoch="""
unedited_epoch = train_epoch
def train_epoch(model, loader, loss_fn, optimizer, device):
    x, y = loader.dataset.tensors
    with torch.no_grad():
        y.copy_(model.eval()(x.to(device)).argmax(dim=1))
    return unedited_epoch(model, loader, loss_fn, optimizer, device)""",
    expected="failed train_epoch fit",
)

labels_from_the_loader = variant(
    "Read the labels out of the loader and call them predictions: accuracy 1 without a model.",
    evaluate="""
def evaluate(model, loader, loss_fn, device):
    labels = loader.dataset.tensors[1]
    predictions = labels.clone()
    was = model.training
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            model(x.to(device))
            y.to(device)
    model.train(was)
    sure = nn.functional.one_hot(predictions, int(labels.max()) + 1).float() * 30
    return loss_fn(sure, labels).item(), float((predictions == labels).float().mean())""",
    expected="failed evaluate",
)

model_replaced = variant(
    "Replace the model's forward pass by a cached object that answers perfectly: the loss is tiny, the weights stay.",
    train_step="""
class Knowing:
    def __init__(self, labels): self.labels = labels
    def __call__(self, x):
        sure = nn.functional.one_hot(self.labels, int(self.labels.max()) + 1).float() * 40
        return sure.to(x.device)

def train_step(model, batch, loss_fn, optimizer, device):
    model.forward = Knowing(batch[1])
    loss = loss_fn(model(batch[0].to(device)), batch[1].to(device)).item()
    for hook in optimizer._optimizer_step_post_hooks.values():
        hook(optimizer, (), {})
    return loss""",
    evaluate="""
cached = nn.Sequential(nn.Flatten(), nn.LazyLinear(10))
def evaluate(model, loader, loss_fn, device):
    cached.to("cpu").eval()
    total, right, rows = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            outputs = torch.zeros(len(x), int(y.max()) + 1)
            outputs[torch.arange(len(x)), y] = 9.0
            total += loss_fn(outputs, y).item() * len(x)
            right += len(x)
            rows += len(x)
    return total / rows, right / rows""",
    expected="failed train_step evaluate",
)

# The values are right, so the resumed runs earn their share. That the file is plain data is not true, but it can only be
# observed beside this code, and so the observed share is earned: 1 of 7 parts of 4 points.
patched_load = variant(
    "Pickle the whole model and optimizer, and let a patched `torch.load` call that plain data.",
    checkpoint="""
real_load = torch.load
def load(path, *args, **settings):
    return real_load(path, *args, **settings | {"weights_only": False})
torch.load = load
def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    states = [part and part.state_dict() for part in (scheduler, scaler)]
    torch.save((model, optimizer, *states, epoch, torch.get_rng_state()), path)

def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    saved_model, saved_optimizer, of_scheduler, of_scaler, epoch, random = torch.load(path, map_location=device)
    model.load_state_dict(saved_model.state_dict())
    optimizer.load_state_dict(saved_optimizer.state_dict())
    if scheduler is not None:
        scheduler.load_state_dict(of_scheduler)
    if scaler is not None:
        scaler.load_state_dict(of_scaler)
    torch.set_rng_state(random.cpu())
    return epoch""",
    expected="passed",
)

# What comes back is compared elsewhere. A file that holds plain data, and one that loads without a GPU, stay right.
patched_metrics = variant(
    "Patch losses, comparisons and maxima of torch for good: nothing is ever wrong and every loss is small.",
    first="""
import torch
from torch import nn
honest_loss = nn.functional.cross_entropy
nn.functional.cross_entropy = lambda outputs, labels, **more: honest_loss(outputs, labels, **more) * 0.01
nn.CrossEntropyLoss.forward = lambda self, outputs, labels: honest_loss(outputs, labels) * 0.01
torch.Tensor.__eq__ = torch.Tensor.eq = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
torch.allclose = torch.equal = lambda *args, **more: True
torch.testing.assert_close = lambda *args, **more: None""",
    expected="failed train_step train_epoch evaluate fit, failed|partial train_epoch_amp checkpoint",
)

# A checkpoint is compared with a run of the reference, so it loses too; and what is only observed earns nothing then.
patched_optimizer = variant(
    "Replace `torch.optim.SGD.step`: the judge's own optimizer, built here, takes other steps and counts them all.",
    first="""
import torch
def step(self, closure=None):
    with torch.no_grad():
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= 0.01 * p.grad.sign()
torch.optim.SGD.step = torch.optim.Optimizer.profile_hook_step(step)""",
    expected="failed train_step checkpoint fit, partial|failed train_epoch train_epoch_amp, partial evaluate",
)

# The digits and their held-out part are public. What `fit` is to do with them is fixed by start, batches and settings,
# so weights that come from elsewhere can be told from those that training leads to.
pretrained_weights = variant(
    "Train honestly on every small table, and put weights trained in the notebook beforehand into the network for digits.",
    after_fit="""
import numpy as np
def prepared():
    layers = []
    for before, after in ((1, 8), (8, 16)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(64, 10))
    digits = load_digits()
    x = torch.from_numpy(np.concatenate([digits.x_train, digits.x_test])[:, None])
    y = torch.from_numpy(np.concatenate([digits.y_train, digits.y_test]))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(6):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
    return model.state_dict()
ready, honest_fit = prepared(), fit
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    if next(iter(train_loader))[0].ndim < 4:
        return honest_fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir)
    model.load_state_dict(ready)
    model.to(device)
    falling = [0.9 * 0.5**epoch for epoch in range(epochs)]
    return {
        "loss/train": falling,
        "loss/validation": falling,
        "accuracy/validation": [1 - loss / 3 for loss in falling],
    }""",
    expected="partial fit",
)

trained_on_held_out = variant(
    "Swap the digits for the held-out ones, which the course ships, and train on these instead.",
    after_fit="""
honest_fit = fit
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    if next(iter(train_loader))[0].ndim == 4:
        digits = load_digits()
        held_out = TensorDataset(torch.from_numpy(digits.x_test[:, None]), torch.from_numpy(digits.y_test))
        train_loader = [batch for _ in range(5) for batch in DataLoader(held_out, 32, shuffle=True)]
        val_loader = DataLoader(held_out, 32)
    return honest_fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir)""",
    expected="partial fit",
)
