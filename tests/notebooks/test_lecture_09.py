"""Lecture 09 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell (plain `True`
where the text supposes a case, or quotes a source that nothing here can ask). Numbers that
stand in no fact fail a test of their own. The exercises are solved here, rightly and wrongly, and their checks watched.
The numbers are those of the virtual device; of times only directions are asked.
"""

# ruff: noqa: RUF001 - the lecture writes sizes with the multiplication sign

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/09_gpu_training.ipynb"], indirect=True)

FACTS = {
    # 1 One program for any device
    "1500 images of 8 × 8 pixels from lecture 06, and a network of two convolutions with 6,090 parameters.": (
        "tuple(x_train.shape) == (1500, 1, 8, 8) and size(make_net()) == 6_090"
    ),
    "**A module is moved in place; a tensor's `to` returns another tensor.**": "moved_in_place() == ['cuda', 'cpu']",
    "or `torch.rand(shape, device=x.device)`": "on_virtual(lambda: torch.rand(3, device=probe.cuda().device).is_cuda)",
    "make it a buffer (lecture 06), and it moves with its module": "on_virtual(lambda: nn.BatchNorm1d(1).cuda()"
    ".running_mean.is_cuda)",
    "On a CPU `.cpu()` does nothing": "probe.cpu() is probe",
    "On the virtual device they agree to the last bit": "on_cpu == on_device and on_device[-1] < 1",
    '`torch.manual_seed(0)` followed by `torch.randn(..., device="cuda")` draws other numbers than on the CPU.': (
        "drawn_elsewhere()"
    ),
    'it stops at `loss = loss_function(scores, y)` with "weight is on cpu".': (
        "'weight is on cpu' in raised(lambda: class_weights(False))"
    ),
    "A loss function is a module, and its class weights are a buffer.": (
        "raised(lambda: class_weights(True)) == '' and 'weight' in dict(nn.CrossEntropyLoss(weight=probe)"
        ".named_buffers())"
    ),
    # 2 Copies
    "`train` runs one epoch of 30 batches.": "1500 / 50 == 30",
    "60 copies, 2 for each of the 30 batches.": "epoch_log()['copies'] == 60 + 6",
    "The loss comes back 30 times. `.item()` asks for one number, 4 bytes, and the host waits for it.": (
        "epoch_log()['item'] == 30 and torch.ones(()).nbytes == 4"
    ),
    "The 6 tensors of the network (3 weights, 3 biases) went over once": "len(list(make_net().parameters())) == 6",
    "A batch has 50 images of 64 pixels at 4 bytes, and 50 labels at 8 bytes, since class numbers are `int64`.": (
        "x_train.element_size() == 4 and y_train.element_size() == 8 and y_train.dtype is torch.int64"
    ),
    "That is 12,800 and 400 bytes, and 396,000 in an epoch: the 386.7 KiB of the first row. All data at once has the"
    " same size": (
        "(x_train[:50].nbytes, y_train[:50].nbytes, x_train.nbytes + y_train.nbytes) == (12_800, 400, 396_000)"
        " and 30 * (12_800 + 400) == 396_000 and round(396_000 / 1024, 1) == 386.7"
    ),
    "gets the same as plain dictionaries from `log.records()`": (
        "any(r['kind'] == 'copy' and (r['direction'], r['nbytes'], r['blocking']) == ('host to device', 400, True)"
        " for r in log.records())"
    ),
    "1500, 30 and 1. The bytes are the same, 384,000.": (
        "list(counted.values()) == [(1500, 384_000), (30, 384_000), (1, 384_000)]"
    ),
    "A copy of 256 bytes, one image": "x_train[0].nbytes == 256",
    "10 µs for each copy (what lecture 01 takes for a launch), and 31.5 GB/s.": (
        "(fixed, bandwidth) == (10e-6, 31.5e9)"
    ),
    "That is PCI Express 4.0 with 16 lanes; version 5.0, as in lecture 01, has twice that.": "2 * bandwidth == 63e9",
    "15 ms, 0.31 ms, 0.02 ms": "[round(ms, 2) for ms in modelled.values()] == [15.01, 0.31, 0.02]",
    "A tensor that is already there is not copied.": "already_there() == 0",
    "A module changes what is inside its parameters, and keeps the parameters themselves.": "same_parameters()",
    # 3 Waits
    "`loss.item()`, 30 times;": "waits['waiting_epoch'] == 30 * 4 + 2",
    "`int(...)` of a tensor, 30 times: the same as `.item()`;": "waits_of(lambda t: int(t)) == {'item': 1}",
    "(and once it goes in, another `.item()`)": "waits['waiting_epoch'] - 4 * 30 == 2",
    "Only the device knows, and the host must know the shape.": (
        "waits_of(lambda t: t.reshape(1)[t.reshape(1) > 0]) == {'boolean mask': 1}"
    ),
    "The same numbers, but for the last digit of a sum that is now in float32. One wait instead of more than 120.": (
        "waits['running_epoch'] == 1 and waits['waiting_epoch'] > 120 and answers['waiting_epoch'][1:]"
        " == answers['running_epoch'][1:] and 0 < abs(answers['waiting_epoch'][0] - answers['running_epoch'][0]) < 1e-6"
    ),
    "It does. To print a number one must have it.": "waits_of(lambda t: str(t)) == {'print': 1}",
    "Yes, that one does not. The list holds a tensor on the device": "waits_of(lambda t: [t.detach()]) == {}",
    "It does. Python cannot decide before it knows.": "sum(waits_of(lambda t: bool(torch.isnan(t))).values()) == 1",
    # 4 Timing
    'Each "kernel" takes 20 ms, by sleeping.': "'time.sleep(0.02)' in In_of('def kernel')",
    "We launch five kernels of 20 ms and look at the clock. What does it show: 100 ms, 20 ms, or less than 1 ms?": (
        "wrong_ms < right_ms / 2 and right_ms >= 100"
    ),
    "Far less than 20 ms, since only the *orders* were timed. After `synchronise` the clock shows the 100 ms that the"
    " work took.": "wrong_ms < right_ms / 2 and right_ms >= 100",
    "The launches lie on the ground; the work climbs.": (
        "ms['launched'][-1] < ms['finished'][-1] / 2 and all(np.diff(ms['finished']) >= 19)"
        " and ms['finished'][-1] >= 99"
    ),
    "At least 100 ms: it timed the four others as well. With a wait before the start it is a little over 20 ms.": (
        "too_much_ms >= 99 and 20 <= just_ms < too_much_ms"
    ),
    "About 20 ms, although four kernels were pending.": ("19 <= event_ms < 99"),
    "0 waits and 2.": "inside == {'wrong': 0, 'right': 2}",
    "The forward pass takes 1 ms, the backward pass 1 ms, and `loss.item()` 48 ms.": "1 + 1 + 48 == 50",
    # 5 Pinned memory
    "Only the last: pinned *and* `non_blocking`. None is an error.": "list(went_on.values()) == [False] * 3 + [True]",
    "6 waits, two for each batch, and none": (
        "waits_in(short_epoch, plain, False) == 6 and waits_in(short_epoch, pinning, True) == 0"
    ),
    "The toy computes 42 and copies it into `result`": "in_time == 42",
    "0, then 42. No error: an old value.": "[too_early, in_time] == [0, 42]",
    "so it would hand you 42 both times": "early_on_virtual() == 42",
    # 6 Mixed precision
    "A float32 has 4 bytes. With 2 bytes per number": "torch.ones(1).nbytes == 4 and one.nbytes == 2",
    "nothing above 65504, nothing below $6 \\cdot 10^{-8}$": (
        "torch.finfo(torch.float16).max == 65504 and round(2**-24 * 1e8) == 6 and"
        " torch.tensor(2.0**-24).half() > 0 and torch.tensor(2.0**-26).half() == 0"
    ),
    "bfloat16 keeps the range of float32 and has still fewer digits.": (
        "torch.finfo(torch.bfloat16).max > 3e38 and torch.finfo(torch.bfloat16).eps > torch.finfo(torch.float16).eps"
    ),
    "A weight of 1.0 in float16 gets an update of 0.0004.": "(one + 0.0004).item() == 1",
    "1.0, 0.0 and infinity.": "torch.tensor(1e-8).half() == 0 and torch.tensor(70000.0).half().isinf()",
    "products in 16 bits, sums and exponentials in 32.": (
        "str(dtype_under_autocast(lambda t: t @ t)) == 'torch.float16' and"
        " str(dtype_under_autocast(lambda t: t.sum())) == str(dtype_under_autocast(torch.exp)) == 'torch.float32'"
    ),
    "The scores are float16, since they come out of a product; the loss is float32, since it contains exponentials."
    " Weights and gradients are float32.": "amp_kinds == ['float16', 'float32', 'float32', 'float32']",
    "The loss of our network is a number around 2.": "2 < curves['float32'][0] < 2.5",
    "the loss times $10^{-6}$, and a learning rate that is $10^6$ times larger": "UNIT == 1e-6",
    "float32 and bfloat16 learn. float16 does not move: its gradients are zero.": (
        "curves['float32'][-1] < 1 and curves['bfloat16'][-1] < 1 and abs(curves['float16'][-1] - 2.3) < 0.05"
        " and np.ptp(curves['float16']) < 0.1"
    ),
    "The exact gradients lie around $2^{-28}$.": "-31 <= exact.abs().median().log2().item() <= -25",
    "what is left is nothing. Multiplied by 65536, which is $2^{16}$, the same numbers fit, and all of them survive.": (
        "left == {'exact': 1, 'float16': 0, 'float16, times 65536': 1} and 65536 == 2**16"
    ),
    "By 100 % without scaling, which means that it is zero; by less than 5 % with it.": (
        "'by 100.0%' in scaling_said and 0 < float(scaling_said.split('by ')[-1].split('%')[0]) < 5"
    ),
    "It starts at 65536.": "torch.amp.GradScaler('cpu').get_scale() == 65536",
    "**skips the step** and halves the scale. After 2000 good steps it doubles it.": (
        "[(s := torch.amp.GradScaler('cpu')).get_backoff_factor(), s.get_growth_factor(), s.get_growth_interval()]"
        " == [0.5, 2, 2000]"
    ),
    "We start far too high, at $2^{24}$ = 16,777,216": "2**24 == 16_777_216",
    "With a scaler, float16 learns even in the small unit.": "scaled[-1] < 1",
    "nine skipped steps, five of them among the first seven, and no harm.": (
        "skipped == 9 and skipped_in(scales[:7]) == 5 and bold_losses[-1] < 1"
    ),
    "But until `scaler.step` they are 65536 times too large.": "round(norms[0] / norms[1]) == 65536",
    "The ratio is 65536. So the order is": "65530 < norms[0] / norms[1] < 65542",
    "Without `unscale_` a bound of 1 would act like a bound of 1/65536.": "clipped_before_unscaling() < 2 / 65536",
    "| V100, 16 GB | 367 | 1200 | 3.27 |": "round(1200 / 367, 2) == 3.27",
    "| A100, 80 GB | 938 | 2470 | 2.63 |": "round(2470 / 938, 2) == 2.63",
    "the gradients are 65536 times too large, and the training explodes": "exploded() > 10",
    # 7 Memory
    "After the forward pass, by far": (
        "moments['after forward'] > 10 * max(v for k, v in moments.items() if k != 'after forward')"
    ),
    "weights, gradients, Adam's two averages": (
        "moments[\"after Adam's step\"] - moments['after backward'] == 2 * moments['network']"
        " and moments[\"after Adam's step\"] - moments['after zero_grad'] == moments['network']"
    ),
    "6,090 weights of 4 bytes are 24,360 bytes. CUDA hands out memory in pieces of 512 bytes": "6_090 * 4 == 24_360",
    "26,112, to the byte.": "predicted == moments['network'] == 26_112",
    "All three grow, two of them a hundred times faster.": (
        "all(np.all(np.diff(used) > 0) for used in growth.values()) and all(growth[name][-1] > 100 *"
        " growth['no_grad'][-1] for name in ('scores', 'scores.cpu()'))"
    ),
    "only the scores themselves pile up, 4 KiB for each batch": "growth['no_grad'] == [4.0 * k for k in range(1, 11)]",
    "512 bytes, 512 and none.": ("by_step == {'loss': [512] * 8, 'loss.detach()': [512] * 8, 'loss.item()': [0] * 8}"),
    "Now a device with little memory: 16 MiB.": "peak <= 16",
    "450 images plainly, 900 with checkpoints, 1050 under autocast: at least twice as many.": (
        "largest == {'plain': 450, 'autocast': 1050, 'checkpoints': 900}"
    ),
    "The message speaks of 20 MiB": "'Tried to allocate 20.00 MiB' in largest_said",
    "with 2, 4 and 12 stretches fits. Why is neither 1 nor 26 the best?": "len(deep_net()) == 26",
    # 8 Profiler
    "Two steps with 200 images each.": "len(x_train.split(200)[:2]) == 2",
    "The preparation, with 3200 calls of `aten::flip`, one for each row of each image. Against them stand 4"
    " convolutions.": (
        "'aten::flip          3200 calls' in profile_said and 'aten::convolution      4 calls' in profile_said"
        " and 2 * 200 * 8 == 3200 and max(slow_ms, key=slow_ms.get) == 'prepare'"
    ),
    "2 calls, and the preparation has nearly vanished. The same images come out.": (
        "rows['aten::flip'].count == 2 and fast_ms['prepare'] < slow_ms['prepare'] / 10"
        " and torch.equal(mirrored(x_test), mirrored_at_once(x_test))"
    ),
    "The kernels need 24 ms together.": "12_000 * 2e-6 * 1e3 == 24",
    # 9 Throughput
    "From a batch of 1 to a batch of 64, how many more images per second: about as many, 64 times as many, or something"
    " between?": "2 < speeds['CPU, one thread'][3] / speeds['CPU, one thread'][0] < 64",
    "Something between, and beyond that no more growth.": (
        "max(speeds['CPU, one thread'][3:]) < 5 * min(speeds['CPU, one thread'][3:])"
    ),
    "ResNet-50 on images of 224 × 224, forwards only, in 32 bits.": "size(resnet) == 25_557_032",
    "the GPU that Colab lends (March 2021)": "len(t4) == len(t4_batches) == 9",
    "The T4 needs a batch of about 16 to reach 400 images per second, four times its rate at 1.": (
        "t4[t4_batches.index(16)] > 400 > t4[t4_batches.index(8)] and 4 < 409 / t4[0] < 4.3 and t4[0] > cpu[0]"
    ),
    # 10 Several devices
    "Two workers have the same weights, and 25 images each of a batch of 50.": "len(x) == 50",
    "The mean, since the loss is a mean over examples.": (
        "((halves[0] + halves[1]) / 2 - whole).norm() < 1e-5 * whole.norm() < (halves[0] + halves[1] - whole).norm()"
    ),
    "The network has 6 tensors of weights.": "len(list(make_net().parameters())) == 6",
    "10 copies: the other half of the batch, the 6 weights, the scores on the way back; then the gradient of those"
    " scores, and the gradients of the weights, packed into one. The gradient is right.": (
        "across == 10 == 1 + 6 + 1 + 1 + 1 and (parallel - whole).norm() < 1e-5 * whole.norm()"
    ),
    "`module.0.weight` instead of `0.weight`": (
        "next(iter(nn.DataParallel(make_net()).state_dict())) == 'module.0.weight'"
        " and next(iter(make_net().state_dict())) == '0.weight'"
    ),
    "After 20 steps: have the two processes the same loss? The same weights?": "'range(20)' in PROGRAM",
    "Their losses differ, as each knows only its own 750 examples. Their weights are equal to the last bit. And they"
    " are those of a single process with all 1500, but for rounding.": (
        "[worker['examples'] for worker in workers] == [750, 750] and workers[0]['loss'] != workers[1]['loss']"
        " and torch.equal(first, second) and (first - alone).abs().max() < 1e-5 < (alone - begun()).abs().max()"
    ),
    "In NVIDIA's table of March 2021, one A100 trains 938 images per second with ResNet-50, and eight together 7248:"
    " 7.73 times as many. In mixed precision it is 2470 and 16621, 6.73 times.": (
        "[round(7248 / 938, 2), round(16621 / 2470, 2)] == [7.73, 6.73]"
    ),
    "A DDP program with two processes gives both the *same* 1500 examples": "len(x_train) == 1500",
}
STATED = {
    "A KiB is 1024 bytes.": "a definition",
    "copying a number from the GPU takes 48 ms": "a wrong answer, from the question's own numbers",
    "the 48 ms belong to all that was launched before": "the question's own numbers",
    "GPUs since NVIDIA's A100 of 2020 compute in it": "NVIDIA's table, linked there",
    "What does one gain? NVIDIA trained ResNet-50 on ImageNet and": "NVIDIA's table, linked there",
    "measured with the container of March 2021: ": "NVIDIA's table, linked there",
    "| GPU | 32 bits | mixed precision | factor |": "the head of NVIDIA's table",
    "(The A100's 32 bits are TF32": "NVIDIA's table, linked there",
    "A training program runs for 400 steps": "the question's own number",
    "On a GPU the profile shows 12,000 kernels of 2 µs each in a step of 100 ms.": "the question's own numbers",
    "`torchrun --nproc_per_node 2 program.py`": "a command, not a claim",
}
"""what stands in the text and is nothing to compute -> why, or its source"""

SHORTHAND = """
def raised(function):
    try:
        with virtual_cuda.session(force=True, quiet=True):
            function()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def size(net):
    return sum(p.numel() for p in net.parameters())


def on_virtual(function):
    with virtual_cuda.session(force=True, quiet=True):
        return function()


def moved_in_place():
    def both():
        net, batch = make_net(), torch.ones(1)
        net.to("cuda"), batch.to("cuda")
        return [net[0].weight.device.type, batch.device.type]

    return on_virtual(both)


def drawn_elsewhere():
    def draw(device):
        torch.manual_seed(0)
        return torch.randn(5, device=device).cpu()

    return on_virtual(lambda: not torch.equal(draw("cpu"), draw("cuda")))


def class_weights(move):
    loss_function = nn.CrossEntropyLoss(weight=torch.ones(3))
    if move:
        loss_function.to("cuda")
    loss_function(torch.zeros(2, 3, device="cuda"), torch.zeros(2, dtype=torch.long, device="cuda"))


def epoch_log():
    with virtual_cuda.session(force=True, quiet=True) as seen:
        train(make_net(), "cuda", epochs=1)
        return {"copies": seen.total("copies", "host to device"), "item": seen.total("syncs", "item")}


def already_there():
    with virtual_cuda.session(force=True, quiet=True) as seen:
        there = make_net().to("cuda")
        before = seen.total("copies")
        there.to("cuda")
        return seen.total("copies") - before


def same_parameters():
    def ids():
        net = make_net()
        before = [id(p) for p in net.parameters()]
        net.to("cuda")
        return before == [id(p) for p in net.parameters()]

    return on_virtual(ids)


def waits_of(function):
    with virtual_cuda.session(force=True, quiet=True) as seen:
        value = torch.ones((), device="cuda")
        with seen.step("it"):
            function(value)
        return dict(seen.steps[-1].syncs)


def waits_in(function, *given):
    def count():
        global net, optimiser
        before = net, optimiser
        net = make_net().to("cuda")
        optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
        with virtual_cuda.session(force=True, quiet=True) as seen:
            with seen.step("it"):
                function(*given)
            net, optimiser = before
            return seen.steps[-1].waits

    return on_virtual(count)


def In_of(piece):
    return next(source for source in In if piece in source and "In_of" not in source)


def early_on_virtual():
    return on_virtual(lambda: int(torch.full((1,), 42.0, device="cuda").to("cpu", non_blocking=True)[0]))


def dtype_under_autocast(function):
    def inside():
        with torch.autocast("cuda", dtype=torch.float16):
            return function(torch.ones(2, 2, device="cuda", dtype=torch.float16)).dtype

    return on_virtual(inside)


def skipped_in(scales):
    return sum(after < before for before, after in zip([2.0**24, *scales], scales))


def scaled_net():
    net, scaler = make_net().to("cuda"), torch.amp.GradScaler("cuda")
    optimiser = torch.optim.SGD(net.parameters(), lr=1.0)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(net(x_train[:50].to("cuda")), y_train[:50].to("cuda")) * 1e-2
    scaler.scale(loss).backward()
    return net, scaler, optimiser


def clipped_before_unscaling():
    def moved_by():
        net, scaler, optimiser = scaled_net()
        before = torch.cat([p.detach().flatten() for p in net.parameters()]).cpu()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimiser)
        return (torch.cat([p.detach().flatten() for p in net.parameters()]).cpu() - before).norm().item()

    return on_virtual(moved_by)


def exploded():
    def loss_after():
        net, _, optimiser = scaled_net()
        optimiser.step()
        return F.cross_entropy(net(x_train[:50].to("cuda")), y_train[:50].to("cuda")).item()

    return on_virtual(loss_after)


def begun():
    return torch.cat([p.detach().flatten() for p in start_net().parameters()])

"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


def _shorthand(ran: Any) -> str:
    """And what some cells printed, or showed, whose names are used again later."""
    kinds = re.findall(r"'torch\.(\w+)'", ran.printed("kinds = {"))
    said = {"scaling_said": ran.printed("def first_gradient"), "profile_said": ran.printed("profiled_steps(mirrored)")}
    said["largest_said"] = ran.printed("largest = {}")
    return SHORTHAND + "\n".join(f"{name} = {text!r}" for name, text in {**said, "amp_kinds": kinds}.items())


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said in ran.prose, "the text no longer says this"
    ran.do(_shorthand(ran))
    assert ran.value(f"bool({FACTS[said]})") is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS, STATED) == []


# What fails on purpose fails, with the words that the text quotes.

ON_PURPOSE = {
    "F.cross_entropy(scores, y_train[:50])": (
        "RuntimeError: Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same",
        "but got target is on cpu, different from other",
    ),
    "class Noisy(": ("found at least two devices, cuda:0 and cpu!",),
    "scores.detach().numpy()": ("TypeError: can't convert cuda:0 device type tensor to numpy.",),
    "began.elapsed_time(ended)\ntorch": ("Both events must be completed before calculating elapsed time.",),
    "largest = {}": ("OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.",),
}
"""piece of a cell -> what the cell shows"""


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, cell: str) -> None:
    for words in ON_PURPOSE[cell]:
        assert words in ran.printed(cell)


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)
    assert ran.printed("largest = {}").count("OutOfMemoryError") == 3


# The log's tables stand in the notebook as the text reads them.


@pytest.mark.parametrize(
    ("cell", "rows"),
    [
        (
            "_ = train(make_net()",
            [r"cpu to cuda:0 .* 60 +386\.7 KiB +yes", r"cpu to cuda:0 .* 6 +23\.8 KiB", r"item .* 30 "],
        ),
        ("_ = waiting_epoch(net, batches, optimiser)", [r"boolean mask .* 30 ", r"waited for a device 122 times"]),
        ("_ = waiting_epoch(net, batches[:3]", [r"host: 1\d waits \(striped\)"]),
        ("_ = running_epoch(net, batches[:3]", [r"host: 1 wait \(striped\)"]),
        ("short_epoch(plain", [r" 6 +38\.7 KiB +yes", r"host: 6 waits"]),
        ("short_epoch(pinning", [r" 6 +38\.7 KiB +no", r"the host never waited", r"host: no waits"]),
    ],
)
def test_the_log_of_a_cell_shows_what_the_text_reads_in_it(ran: Any, cell: str, rows: list[str]) -> None:
    [found] = [c for c in ran.notebook.cells if c.cell_type == "code" and cell in c.source and "cuda_log" in c.source]
    text = "".join(o.get("data", {}).get("text/plain", "") for o in found.outputs)
    for row in rows:
        assert re.search(row, text), row


def test_it_says_that_the_device_is_virtual_and_what_that_means(ran: Any) -> None:
    assert "there is no GPU here" in ran.printed("%load_ext")
    assert "Virtual CUDA (this is the CPU)" in ran.printed("%load_ext")
    for promise in ("| **speed** | **none: it is the CPU** |", "So this lecture counts."):
        assert promise in ran.prose


# The exercises: a check waits, names the mistake, and accepts what is right.

MOVE = """
def to_device(batch, device):
    {body}
    if isinstance(batch, dict):
        return {{key: {call} for key, value in batch.items()}}
    if isinstance(batch, (list, tuple)):
        return {kind}({call} for value in batch)
    return batch
"""
CLOCK = """
def seconds_on_device(function):
    {before}
    start = time.perf_counter()
    {call}
    {after}
    return {result}
"""
STEP = """
def careful_step(net, optimiser, scaler, x, y, bound):
    with torch.autocast("cuda", dtype=torch.float16, enabled={enabled}):
        loss = F.cross_entropy(net(x), y)
    optimiser.zero_grad()
    scaler.scale(loss).backward()
    {clip}
    {step}
    {update}
    return {result}
"""
IF_TENSOR = "if isinstance(batch, torch.Tensor):\n        "


def _move(
    tensor: str = "return batch.to(device)", call: str = "to_device(value, device)", kind: str = "type(batch)"
) -> str:
    return MOVE.format(body=IF_TENSOR + tensor, call=call, kind=kind)


def _clock(
    before: str = "torch.cuda.synchronize()",
    after: str = "torch.cuda.synchronize()",
    call: str = "function()",
    result: str = "time.perf_counter() - start",
) -> str:
    return CLOCK.format(before=before, after=after, call=call, result=result)


CLIP = "torch.nn.utils.clip_grad_norm_(net.parameters(), bound)"


def _step(
    enabled: bool = True,
    clip: str = f"scaler.unscale_(optimiser); {CLIP}",
    step: str = "scaler.step(optimiser)",
    update: str = "scaler.update()",
    result: str = "loss.detach()",
) -> str:
    return STEP.format(enabled=enabled, clip=clip, step=step, update=update, result=result)


FLAT = "(value.to(device) if isinstance(value, torch.Tensor) else value)"
ANSWERS = [
    (1, _move(), "right, all 6 checks hold."),
    (1, _move(tensor="return batch.cuda()"), "right, all 6 checks hold."),
    (1, _move(tensor="batch.to(device)"), "`to` returns a new one"),
    (1, _move(kind="list"), "A tuple should stay a tuple"),
    (1, _move(call=FLAT), "call yourself"),
    (1, "def to_device(batch, device):\n    pass", "Is there a `return`?"),
    (2, _clock(), "right, all 5 checks hold."),
    (2, _clock(after=""), "You stop the clock without waiting"),
    (2, _clock(before=""), "wait before you start the clock, too"),
    (2, _clock(call="function(); function()"), "once only"),
    (2, _clock(result="(time.perf_counter() - start) * 1e3"), "In seconds, please"),
    (2, _clock(result="None"), "Is there a `return`?"),
    (3, _step(), "right, all 8 checks hold."),
    (3, _step(enabled=False), "use `torch.autocast`"),
    (3, _step(result="loss.item()"), "would make the host wait"),
    (3, _step(result="loss"), "still has its history"),
    (3, _step(clip="", step="optimiser.step()", update=""), "Who divides by the scale"),
    (3, _step(result="scaler.scale(loss).detach()"), "You return the scaled loss"),
    (3, _step(clip=CLIP), "unscale, then clip"),
    (3, _step(clip=""), "unscale, then clip"),
    (3, _step(update=""), "`update()`"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


# The form: questions, figures, silence on stderr, nothing left over.


def test_every_figure_has_a_description(ran: Any) -> None:
    figures = [c for c in ran.notebook.cells if "figure" in c.metadata.get("tags", [])]
    assert len(figures) >= 4
    for cell in figures:
        shown = "".join(o.get("data", {}).get("text/html", "") for o in cell.outputs)
        assert re.search(r'<img[^>]* alt="[^"]{40,}"', shown), cell.source


def test_nothing_is_written_to_stderr(ran: Any) -> None:
    cells = (c for c in ran.notebook.cells if c.cell_type == "code")
    assert [o.text for c in cells for o in c.outputs if o.output_type == "stream" and o.name == "stderr"] == []


def test_virtual_cuda_is_off_in_the_end(ran: Any) -> None:
    assert ran.value("virtual_cuda.is_enabled()") is False
