"""Mends of script 2, and what is left or done wrong in others. The script is that of the reference's identifier."""

from autograder.bank import Wrong
from course_lib.checks import clinic

HANDED_OUT = clinic.script(2, "reference 895")
CLIP = "norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm)"


def mended(old, new):
    assert HANDED_OUT.count(old) == 1, old
    return HANDED_OUT.replace(old, new)


BASES = {
    "scaled_bound": mended(
        CLIP,
        "scale = scaler.get_scale()\n"
        "                norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm * scale) / scale",
    ),
    "norm_apart": mended(
        CLIP,
        "scaler.unscale_(optimizer)\n"
        "                norm = nn.utils.get_total_norm([p.grad for p in net.parameters()])\n"
        "                nn.utils.clip_grads_with_norm_(net.parameters(), max_norm, norm)",
    ),
}

WRONG = [
    Wrong("wrong_half_unscaled_late", "The gradients lose their scale after they were clipped.")
    .expect(test_script_2="partial:half-clipped-while-scaled")
    .edit("max_norm * scale) / scale", "max_norm)")
    .edit(
        "                scaler.step(optimizer)\n",
        "                scaler.unscale_(optimizer)\n                scaler.step(optimizer)\n",
    ),
    Wrong("wrong_half_scale_of_the_beginning", "The scale is taken for one that never changes.")
    .expect(test_script_2="partial:half-scale-taken-for-fixed")
    .edit("scale = scaler.get_scale()", "scale = 1024.0"),
    Wrong("wrong_half_scale_read_once", "The scale is asked for once, before the first epoch.")
    .expect(test_script_2="partial:half-scale-taken-for-fixed")
    .edit("                scale = scaler.get_scale()\n", "")
    .edit("    history = {", "    scale = scaler.get_scale()\n    history = {"),
    Wrong("wrong_half_one_update_more", "An update follows the last batch, whether anything is left or not.")
    .expect(test_script_2="partial:half-update-without-gradients")
    .edit(
        "if number % group == 0 or number == len(loader):",
        "for _ in range((not number % group) + (number == len(loader))):",
    ),
    Wrong("wrong_half_update_after_the_loop", "After the last batch the update is written once more.")
    .expect(test_script_2="partial:half-update-without-gradients")
    .edit("number % group == 0 or number == len(loader)", "number % group == 0")
    .edit(
        '        history["loss"].append(loss_sum / seen)\n',
        """        scale = scaler.get_scale()
        norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm * scale) / scale
        history["norm"].append(norm.item())
        history["lr"].append(optimizer.param_groups[0]["lr"])
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        scheduler.step()
        history["loss"].append(loss_sum / seen)
""",
    ),
    Wrong("wrong_half_first_gpu", "The labels go to the first GPU, whatever is asked for.")
    .expect(test_script_2="partial:tensors-on-two-devices")
    .edit("labels = labels.to(device)", "labels = labels.cuda()"),
    Wrong("wrong_half_sum_of_batches", "The gradients of a group are added up.")
    .expect(test_script_2="partial:half-not-divided")
    .edit("scaler.scale(loss / group).backward()", "scaler.scale(loss).backward()"),
    Wrong("wrong_half_whole_groups", "A last group that is not whole makes no update.")
    .expect(test_script_2="partial:half-updates-missing")
    .base("norm_apart")
    .edit("if number % group == 0 or number == len(loader):", "if not number % group:"),
    Wrong("wrong_half_schedule", "The schedule advances with each batch.")
    .expect(test_script_2="partial:half-rate-steps-too-often")
    .edit(
        "                optimizer.zero_grad()\n                scheduler.step()\n",
        "                optimizer.zero_grad()\n            scheduler.step()\n",
    ),
    Wrong("wrong_half_last_loss", "The loss of an epoch is that of its last batch.")
    .expect(test_script_2="partial:half-last-batch-only")
    .base("norm_apart")
    .edit('history["loss"].append(loss_sum / seen)', 'history["loss"].append(loss.item())'),
    Wrong("wrong_half_mean_of_means", "Each batch counts the same in the loss of an epoch.")
    .expect(test_script_2="partial:half-mean-of-means")
    .base("norm_apart")
    .edit("loss_sum += loss.item() * len(inputs)", "loss_sum += float(loss)")
    .edit("loss_sum / seen", "loss_sum / len(loader)"),
    Wrong("wrong_half_last_batch_counted_from_zero", "The last batch is looked for one number too low.")
    .expect(test_script_2="partial:half-last-update-one-batch-early")
    .base("norm_apart")
    .edit("or number == len(loader):", "or number == len(loader) - 1:"),
    Wrong("wrong_half_last_batch_counted_from_zero_too", "The same, in other words.")
    .expect(test_script_2="partial:half-last-update-one-batch-early")
    .edit("or number == len(loader):", "or number + 1 == len(loader):"),
    Wrong("wrong_half_schedule_by_epoch", "The schedule advances once in each epoch.")
    .expect(test_script_2="partial:half-rate-steps-once-an-epoch")
    .base("norm_apart")
    .edit(
        "                optimizer.zero_grad()\n                scheduler.step()\n",
        "                optimizer.zero_grad()\n        scheduler.step()\n",
    ),
    Wrong("wrong_half_schedule_after_the_last_batch", "The schedule advances after the last batch of an epoch alone.")
    .expect(test_script_2="partial:half-rate-steps-once-an-epoch")
    .edit(
        "                scheduler.step()\n",
        "                if number == len(loader):\n                    scheduler.step()\n",
    ),
    Wrong("wrong_half_mean_of_the_last_group", "A smaller last group is divided by the number of its batches.")
    .expect(test_script_2="partial:half-last-group-divided-by-its-own-number")
    .base("norm_apart")
    .edit(
        "            scaler.scale(loss / group).backward()\n",
        "            rest = len(loader) % group\n"
        "            size = rest if number > len(loader) - rest else group\n"
        "            scaler.scale(loss / size).backward()\n",
    ),
    Wrong("wrong_half_losses_divided", "The loss is divided before it is added up.")
    .expect(test_script_2="partial:half-losses-divided")
    .base("norm_apart")
    .edit("loss = criterion(net(inputs), labels)", "loss = criterion(net(inputs), labels) / group")
    .edit("scaler.scale(loss / group)", "scaler.scale(loss)"),
    Wrong("wrong_half_rewritten", "A training loop of another hand: right, and nothing of the old one is left.")
    .expect(test_script_2="partial:script-rewritten")
    .breaks("leave the rest as it is", "may differ from the script that you were given")
    .whole("""
import math

import torch
from torch.nn import functional


def batches(x, y, seed):
    dice = torch.Generator().manual_seed(seed)
    rows = torch.utils.data.TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    return torch.utils.data.DataLoader(rows, shuffle=True, generator=dice, batch_size=8)


def update(model, opt, gradscaler, schedule, most):
    gradscaler.unscale_(opt)
    size = torch.nn.utils.clip_grad_norm_(list(model.parameters()), most).item()
    rate = schedule.get_last_lr()[0]
    gradscaler.step(opt)
    gradscaler.update()
    opt.zero_grad()
    schedule.step()
    return rate, size


def train_in_half(x, y, *, hidden, classes, epochs, lr, group, max_norm, seed, device):
    torch.manual_seed(seed)
    loader = batches(x, y, seed)
    model = torch.nn.Sequential()
    model.append(torch.nn.Linear(x.shape[1], hidden))
    model.append(torch.nn.ReLU())
    model.append(torch.nn.Linear(hidden, classes))
    model.to(device)
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    total = epochs * math.ceil(len(loader) / group)
    schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: max(0.0, (total - k) / total))
    gradscaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
    losses, rates, sizes = [], [], []
    for _ in range(epochs):
        of_rows = 0.0
        waiting = 0
        left = len(loader)
        for inputs, labels in loader:
            with torch.autocast("cuda", dtype=torch.float16):
                outputs = model(inputs.to(device))
                loss = functional.cross_entropy(outputs, labels.to(device))
            gradscaler.scale(loss / group).backward()
            of_rows += len(inputs) * float(loss)
            waiting += 1
            left -= 1
            if waiting == group or left == 0:
                rate, size = update(model, opt, gradscaler, schedule, max_norm)
                rates.append(rate)
                sizes.append(size)
                waiting = 0
        losses.append(of_rows / len(x))
    return model, dict(loss=losses, lr=rates, norm=sizes)
"""),
]
