"""Run by `test_builds.py` in any Python with torch: train, be refused, save and load, and leave no trace."""

import io
import warnings

import torch
from torch import nn

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.refusals.table import CASES


def train(device: str) -> list[float]:
    """Losses of a small network with everything that a course's first network has."""
    torch.manual_seed(0)
    images, labels = torch.randn(32, 1, 8, 8), torch.randint(0, 4, (32,))
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(144, 4)
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert all(p.device.type == device for p in model.parameters())
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, map_location="cpu")
    assert all(torch.equal(value.cpu(), loaded[name]) for name, value in model.state_dict().items())
    model.load_state_dict(loaded)
    assert model[0].weight.device.type == device
    return losses


torch.set_num_threads(1)
expected = train("cpu")
before = set(vars(torch.Tensor)), set(vars(torch.cuda)), set(vars(torch))
with virtual_cuda.session(devices=2, same_numbers=True, quiet=True, force=True) as log:
    assert train("cuda") == expected
    assert log.copies and log.syncs and log.launches
    with warnings.catch_warnings(record=True) as said, torch.autocast("cuda", dtype=torch.float16):
        warnings.simplefilter("always")
        layers = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 2)).to("cuda")
        assert layers(torch.ones(1, 1, 8, 8, device="cuda")).dtype is torch.float16
    assert not said, said[0].message
    troubles = [f"{case.name}: {trouble}" for case in CASES if (trouble := case.expect.explain(case.run()))]
assert not troubles, "\n".join(troubles)
assert (set(vars(torch.Tensor)), set(vars(torch.cuda)), set(vars(torch))) == before
assert train("cpu") == expected
assert torch.ones(1).device.type == "cpu" and not virtual_cuda.is_enabled()
print(f"smoke: torch {torch.__version__}, {len(CASES)} rows")
