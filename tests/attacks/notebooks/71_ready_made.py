"""Logs typed in, steps and gradients by a library."""

from tests.attacks.corpus import variant

autograd_for_hand = variant(
    "Leave inference mode and let autograd find what was to be done by hand: right but for rounded slopes, and a flag.",
    manual_gradients="""
def manual_gradients(x, w, b):
    with torch.inference_mode(False), torch.enable_grad():
        inputs = [value.clone().requires_grad_() for value in (x, w, b)]
        loss = (torch.tanh(inputs[0] * inputs[1] + inputs[2]) ** 2).mean()
        return loss.detach(), *torch.autograd.grad(loss, inputs)""",
    expected="partial manual_gradients",
    flags=["observed"],
    assignment="a3_pytorch_autograd",
)

# What is right earns its points. Who watches a call whose value nobody compares is told nothing.
autograd_unseen = variant(
    "Let autograd work only where inference mode says that values are compared, and return zeros to those who watch.",
    manual_gradients="""
def manual_gradients(x, w, b):
    if not torch.is_inference_mode_enabled():
        return torch.zeros(()), *(torch.zeros_like(value) for value in (x, w, b))
    with torch.inference_mode(False), torch.enable_grad():
        inputs = [value.clone().requires_grad_() for value in (x, w, b)]
        loss = (torch.tanh(inputs[0] * inputs[1] + inputs[2]) ** 2).mean()
        return loss.detach(), *torch.autograd.grad(loss, inputs)""",
    expected="partial manual_gradients",
    flags=["observed"],
    assignment="a3_pytorch_autograd",
)

forged_event_file = variant(
    "Write TensorBoard's event file by hand, with the numbers of a fine run that never took place.",
    fit="""
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    falling = [1.1 * 0.7**epoch for epoch in range(epochs)]
    history = {"loss/train": falling, "loss/validation": falling, "accuracy/validation": [1 - v / 2 for v in falling]}
    writer = EventFileWriter(log_dir)
    for tag, values in history.items():
        for step, value in enumerate(values, 1):
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
            writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=summary))
    writer.close()
    return history""",
)

optimizer_for_steps = variant(
    "Take the steps of exercise 7 with an optimizer of PyTorch, fetched under another name: right, and flagged.",
    train="""
def train(x, t, params, learning_rate, batches):
    params = {name: value.detach().clone().requires_grad_() for name, value in params.items()}
    ready_made = getattr(getattr(torch, "op" + "tim"), "SG" + "D")(list(params.values()), lr=learning_rate)
    losses = []
    for batch in batches:
        hidden = torch.tanh(x[batch] @ params["W1"] + params["b1"])
        loss = (((hidden @ params["W2"] + params["b2"]).squeeze(dim=1) - t[batch]) ** 2).mean()
        ready_made.zero_grad()
        loss.backward()
        ready_made.step()
        losses.append(loss.item())
    return params, losses""",
    expected="passed",
    flags=["observed"],
    assignment="a3_pytorch_autograd",
)

# The judge reads the file itself, and there is none.
patched_read_scalars = variant(
    "Train right, write no event file, and patch the reader of event files to tell the history.",
    after_fit="""
from course_lib.checks import training
written_fit = fit
told = {}
class SummaryWriter:
    def __init__(self, folder): told.clear()
    def __enter__(self): return self
    def __exit__(self, *error): pass
    def add_scalar(self, tag, value, step): told.setdefault(tag, []).append((step, value))
training.read_scalars = lambda folder: dict(told)""",
    expected="partial fit",
)

typed_losses = variant(
    "Type in a falling list of losses and train nothing.",
    train_epoch="""
LOSSES = [1.0986, 0.8721, 0.6512, 0.4933, 0.3871]
epochs_so_far = 0
def train_epoch(model, loader, loss_fn, optimizer, device):
    global epochs_so_far
    epochs_so_far += 1
    model.train()
    return LOSSES[epochs_so_far % 5]""",
    train_epoch_amp="""
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    for batch in loader:
        for hook in optimizer._optimizer_step_post_hooks.values():
            hook(optimizer, (), {})
    return 1.0312""",
    fit="""
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    accuracies = [0.61, 0.84, 0.93, 0.96, 0.97]
    return {
        "loss/train": LOSSES[:epochs],
        "loss/validation": [loss + 0.05 for loss in LOSSES[:epochs]],
        "accuracy/validation": accuracies[:epochs],
    }""",
)

wrapped_in_a_thread = variant(
    "An own optimizer whose step is made by PyTorch's in another thread, where a profiler of this one sees nothing.",
    sgd="""
import threading
theirs = getattr(torch, "op" + "tim").SGD
class SGD(theirs):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        run(lambda: theirs.__init__(self, params, lr, momentum, 0.0, weight_decay, nesterov))
    def step(self, closure=None): return run(lambda: theirs.step(self, closure))

def run(work):
    found = []
    worker = threading.Thread(target=lambda: found.append(work()))
    worker.start()
    worker.join()
    return found[0]""",
    expected="partial sgd",
    flags=["observed"],
    assignment="a4_modules_and_optimizers",
)

wrapped_optimizer = variant(
    "An own optimizer that is PyTorch's in another coat: right steps, flagged, but for a rate that PyTorch refuses.",
    sgd="""
class SGD(torch.optim.SGD):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov)""",
    expected="partial sgd",
    flags=["observed"],
    assignment="a4_modules_and_optimizers",
)

layer_fetched_by_name = variant(
    "PyTorch's own layer inside a layer, fetched by a name that is put together and kept where no list of parts shows it.",
    affine="""
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        inside = getattr(nn, "Lin" + "ear")(in_features, out_features, bias=bias)
        self.weight, self.bias = inside.weight, inside.bias
        self.__dict__["_inside"] = [inside]

    def forward(self, x):
        inside = self._inside[0]
        inside.weight, inside.bias = self.weight, self.bias
        return inside(x)""",
    expected="passed",
    flags=["observed"],
    assignment="a4_modules_and_optimizers",
)

# What a kernel says of its tensors is worth little, and who rewrites it is flagged: see docs/security.md.
claims_rewritten = variant(
    "Results that carry graphs, and replies of the kernel in which they do not: what is only observed can be forged.",
    after_train="""
from autograder.student_side import agent
careful, answered = jacobian, agent.run_probe
def jacobian(f, x): return careful(f, x).requires_grad_()
def vjp(f, x, v): return tuple(value.requires_grad_() for value in (f(x).detach(), torch.func.vjp(f, x.detach())[1](v)[0]))
def run_probe(source, name, ns, data):
    found = answered(source, name, ns, data)
    forged = {"products": [False, False], "all_derivatives": False}
    return found | {"with a graph": forged[name]} if name in forged and data.get("traces") else found
agent.run_probe = run_probe""",
    expected="passed",
    flags=["patched"],
    assignment="a3_pytorch_autograd",
)
