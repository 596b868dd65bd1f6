"""Take virtual CUDA's modes off torch's stack for an epoch: on the bare CPU nothing is a copy and nothing is counted.

The numbers are right. The log says that fewer bytes went to the device than the batches have: that cannot be.
"""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch": "passed|partial", "test_fit": "passed|partial"}
FLAGS = ["observed"]
CELLS = {
    "train_epoch": """
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
            _push_mode(mode)
""",
}
