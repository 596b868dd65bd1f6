"""Devices: faked, switched off, unwatched."""

from tests.attacks.corpus import variant

cpu_fallback = variant(
    "Bring the model back to the host whatever device is asked for, train there, and send it to the device afterwards.",
    after_evaluate="""
def on_the_host(function):
    def call(model, given, loss_fn, *others):
        model.cpu()
        result = function(model, given, loss_fn, *others[:-1], "cpu")
        model.to(others[-1])
        return result
    return call
train_step, train_epoch, evaluate = map(on_the_host, (train_step, train_epoch, evaluate))""",
    expected="partial train_step train_epoch evaluate fit",
)

FORGED = """
import contextlib, types
from course_lib.checks import training
asked, sent = ["cpu"], [0, 0]
def on_the_host(function):
    def call(model, given, loss_fn, *others):
        asked[0] = "cuda:0" if others[-1] == "cuda" else others[-1]
        sent[:] = 0, 0
        move(model, others, "cpu")
        result = function(model, counted(given), loss_fn, *others[:-1], "cpu")
        move(model, others, others[-1])
        return result
    return call

def move(model, others, device):
    model.to(device)
    for momentum in (state for one in others for state in getattr(one, "state", {}).values()):
        momentum.update({name: value.to(device) for name, value in momentum.items() if torch.is_tensor(value)})

def counted(given):
    if not isinstance(given, DataLoader):
        return given
    return (note(batch) for batch in given)

def note(batch):
    sent[0] += sum(part.nbytes for part in batch)
    sent[1] += 1
    return batch

@contextlib.contextmanager
def device_step():
    found = []
    yield found
    nbytes = {"host to device": sent[0], "device to device": 0, "device to host": 4 * sent[1]}
    found.append(types.SimpleNamespace(nbytes=nbytes, copies=dict.fromkeys(nbytes, sent[1]), syncs={"item": sent[1]}))
looked = training.Watch.forward
def forward(self, x):
    y = looked(self, x)
    self.devices[-1] = asked[0]
    return y
training.device_step, training.Watch.forward = device_step, forward
train_step, train_epoch, evaluate = map(on_the_host, (train_step, train_epoch, evaluate))"""

# What was computed on the host shows in the values of networks that draw on their device. The rest is only observed, and
# earns its observed share.
cpu_fallback_hidden = variant(
    "Train on the host whatever is asked, and forge what is watched: the `Watch`, and a device's step with likely numbers.",
    after_evaluate=FORGED,
    # A host whose CPU has units for half precision rounds otherwise than the device: autocast then tells it, too.
    expected="partial train_step train_epoch evaluate fit, passed|partial train_epoch_amp",
    flags=["patched"],
)

# The most that is known to be possible: everything on the host but the numbers that tell, which the device draws.
cpu_fallback_drawn = variant(
    "The same, and let the layers that draw on their device draw where they were asked to be, and compute on the host.",
    after_evaluate=FORGED
    + """
def forward(self, x):
    device = asked[0] if x.device.type == "cpu" else x.device
    generator = torch.Generator(device=device).manual_seed(self.out_features)
    gains = torch.empty(self.out_features, device=device).uniform_(0.5, 1.5, generator=generator)
    return nn.functional.linear(x, self.weight, self.bias) * gains.to(x.device)
training.DrawnLinear.forward = forward""",
    expected="passed|partial train_epoch_amp",
    flags=["patched"],
)

# The training is right. The log then says that fewer bytes went to the device than the batches have: that cannot be.
edited_log = variant(
    "Copy the model at every step and wait all the time, and set the counters of the device log back to nothing.",
    after_evaluate="""
import copy
def unrecorded(function):
    def call(model, given, loss_fn, *others):
        result = function(model, given, loss_fn, *others)
        if others[-1] != "cpu":
            for _ in range(9):
                copy.deepcopy(model).cpu()
                torch.cuda.synchronize()
        log = virtual_cuda._on.log
        for counter in (log._sums, log.counts, log.nbytes):
            counter.clear()
        for kept in (log.copies, log.syncs):
            kept.clear()
        return result
    return call
train_epoch, evaluate = unrecorded(train_epoch), unrecorded(evaluate)""",
    expected="passed|partial train_epoch evaluate",
    flags=["observed"],
)

faked_properties = variant(
    "Honest training; `torch.cuda` is patched to boast of a large GPU and the environment names eight. It changes nothing.",
    after_train_step="""
import os, types
os.environ["CUDA_VISIBLE_DEVICES"] = "0,1,2,3,4,5,6,7"
torch.cuda.get_device_name = lambda *args: "NVIDIA H100 80GB HBM3"
torch.cuda.get_device_properties = lambda *args: types.SimpleNamespace(name="H100", total_memory=80 << 30, major=9)
torch.cuda.is_available = lambda: True
torch.cuda.get_device_capability = lambda *args: (9, 0)""",
    expected="passed",
)

half_precision_in_name = variant(
    "Compute in float32 and turn only what the last layer is shown into float16: what overflows tells.",
    train_epoch_amp="""
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train()
    model[-1].register_forward_pre_hook(lambda layer, given: given[0].half() if "Watch" in str(layer) else None)
    total, rows = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x.to(device)).float(), y.to(device))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item() * len(x)
        rows += len(x)
    return total / rows""",
    expected="partial train_epoch_amp",
)

lying_parameters = variant(
    "Train on the host, and give the parameters a class whose `device` says what is asked for. The outputs give it away.",
    train_step="""
asked = ["cpu"]
class There(nn.Parameter):
    @property
    def device(self): return torch.device(asked[0])

def train_step(model, batch, loss_fn, optimizer, device):
    asked[0] = "cuda:0" if device == "cuda" else device
    model.cpu()
    optimizer.zero_grad()
    loss = loss_fn(model(batch[0]), batch[1])
    loss.backward()
    optimizer.step()
    for p in model.parameters():
        p.__class__ = There
    return loss.item()""",
    expected="partial train_step",
)

# Where an observation then finds nothing it does not pass: that share is lost by the program's own doing. Mixed
# precision is switched off by a scaler that asks the patched function.
no_device_admitted = variant(
    "Right training, but `torch.cuda` is patched to deny every device, so that nobody watches one.",
    after_make_loaders="torch.cuda.is_available = lambda: False\ntorch.cuda.device_count = lambda: 0",
    expected="partial train_epoch evaluate, partial|failed train_epoch_amp, passed|partial checkpoint",
)

patched_observers = variant(
    "Do not train, and patch every helper of the course that watches: steps, modes, graphs, devices and copies are all fine.",
    train_step="""
import contextlib, types
from course_lib.checks import training
batches_seen = [0]
class Agreeable(list):
    def __getitem__(self, place): return batches_seen[0]

class Watch(training.Watch):
    def graphs_alive(self): return 1

@contextlib.contextmanager
def device_step():
    nbytes = {"host to device": 41_448, "device to device": 0, "device to host": 0}
    yield [types.SimpleNamespace(nbytes=nbytes, copies={}, syncs={})]

def count_steps(optimizer):
    batches_seen[0] = 0
    return Agreeable([0])
training.count_steps, training.Watch, training.device_step = count_steps, Watch, device_step
training.read_scalars = lambda folder: {}
def train_step(model, batch, loss_fn, optimizer, device):
    batches_seen[0] += 1
    with torch.no_grad():
        return loss_fn(model(batch[0].to(device)), batch[1].to(device)).item()""",
    train_epoch="""
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    total, rows = 0.0, 0
    for x, y in loader:
        batches_seen[0] += 1
        with torch.no_grad():
            total += loss_fn(model(x.to(device)), y.to(device)).item() * len(x)
        rows += len(x)
    return total / rows""",
    train_epoch_amp="""
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    with torch.autocast("cuda", dtype=torch.float16):
        return train_epoch(model, loader, loss_fn, optimizer, device)""",
    expected="failed train_step train_epoch train_epoch_amp",
)

# The numbers are right. The log says that fewer bytes went to the device than the batches have: that cannot be.
popped_modes = variant(
    "Take virtual CUDA's modes off torch's stack for an epoch: on the bare CPU nothing is a copy and nothing is counted.",
    train_epoch="""
from torch.overrides import _get_current_function_mode_stack, _pop_mode, _push_mode
from torch.utils import _python_dispatch as dispatching
def train_epoch(model, loader, loss_fn, optimizer, device):
    taken = [dispatching._pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
    functions = [_pop_mode() for _ in _get_current_function_mode_stack()]
    try:
        model.train()
        total, rows = 0.0, 0
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += float(loss.detach().numpy()) * len(x)
            rows += len(x)
        return total / rows
    finally:
        for mode in reversed(taken):
            dispatching._push_mode(mode)
        for mode in reversed(functions):
            _push_mode(mode)""",
    expected="passed|partial train_epoch fit",
    flags=["observed"],
)

# The numbers are right. The log says that fewer bytes went to the device than the batches have: that cannot be.
switched_off = variant(
    "Switch virtual CUDA off for each epoch and on again after it, so that its log sees neither copies nor waits.",
    after_evaluate="""
def unseen(function):
    def call(model, given, loss_fn, *others):
        if others[-1] == "cpu" or not virtual_cuda.is_enabled():
            return function(model, given, loss_fn, *others)
        depth = virtual_cuda._on.depth
        for _ in range(depth):
            virtual_cuda.disable()
        try:
            return function(model, given, loss_fn, *others[:-1], "cpu")
        finally:
            for _ in range(depth):
                virtual_cuda.enable(devices=2, quiet=True, force=True)
            model.to(others[-1])
    return call
train_epoch, evaluate = unseen(train_epoch), unseen(evaluate)""",
    expected="passed|partial train_epoch evaluate fit",
    flags=["observed"],
)

switched_off_for_good = variant(
    "Switch virtual CUDA off for the rest of the program and let every `.to` do nothing: all that asks for a device fails.",
    after_fit="""
while virtual_cuda.is_enabled():
    virtual_cuda.disable()
nn.Module.to = lambda self, *args, **more: self
real_to = torch.Tensor.to
torch.Tensor.to = lambda self, *args, **more: self if "cuda" in str(args) else real_to(self, *args, **more)
virtual_cuda.enable = lambda *args, **more: None
torch.cuda.is_available = lambda: True""",
    expected="partial|failed train_step train_epoch evaluate checkpoint fit, passed|partial make_loaders, failed|partial train_epoch_amp",
)
