"""Mends of script 5, and what is left or done wrong in others. The script is that of the reference's identifier."""

from autograder.bank import Wrong
from course_lib.checks import clinic

HANDED_OUT = clinic.script(5, "reference 895")
LOADED = '    net.load_state_dict(checkpoint["net"])\n'


def mended(*edits):
    text = HANDED_OUT
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


SCHEDULER = '    scheduler.load_state_dict(checkpoint["scheduler"])\n'
OPTIMIZER = '    optimizer.load_state_dict(checkpoint["optimizer"])\n'
BASES = {
    "read_in_order": mended(
        (LOADED, LOADED + SCHEDULER + OPTIMIZER),
        ("scheduler, epoch, losses)", "scheduler, 1 + epoch, losses)"),
    ),
    "in_a_loop": mended(
        (
            LOADED,
            '    for name, part in {"net": net, "optimizer": optimizer, "scheduler": scheduler}.items():\n'
            "        part.load_state_dict(checkpoint[name])\n",
        ),
        ("scheduler, epoch, losses)", "scheduler, len(losses), losses)"),
    ),
    "taken_from_the_file": mended(
        (LOADED, OPTIMIZER + LOADED + SCHEDULER.replace('checkpoint["scheduler"]', 'checkpoint.pop("scheduler")')),
        (
            "        save_run(path, net, optimizer, scheduler, epoch, losses)",
            "        done = epoch + 1\n        save_run(path, net, optimizer, scheduler, done, losses)",
        ),
    ),
}

WRONG = [
    Wrong("wrong_long_momentum_lost", "The optimizer begins anew.")
    .expect(test_script_5="partial:long-optimizer-not-restored")
    .base("in_a_loop")
    .edit('"net": net, "optimizer": optimizer, "sch', '"net": net, "sch'),
    Wrong("wrong_long_schedule_lost", "The schedule begins anew.")
    .expect(test_script_5="partial:long-schedule-not-restored")
    .base("taken_from_the_file")
    .edit('    scheduler.load_state_dict(checkpoint.pop("scheduler"))\n', ""),
    Wrong("wrong_long_epoch_twice", "A resumed run does the last epoch again.")
    .expect(test_script_5="partial:long-epoch-repeated")
    .edit("scheduler, 1 + epoch, losses)", "scheduler, epoch, losses)"),
    Wrong("wrong_long_reader_adds_one", "The file says one epoch less than are done, and the reader adds it.")
    .expect(test_script_5="partial:long-checkpoint-one-too-low")
    .edit("scheduler, 1 + epoch, losses)", "scheduler, epoch, losses)")
    .edit('return checkpoint["done"], ', 'return checkpoint["done"] + 1, '),
    Wrong("wrong_long_reader_counts", "The file says one epoch less than are done, and the reader counts the losses.")
    .expect(test_script_5="partial:long-checkpoint-one-too-low")
    .base("taken_from_the_file")
    .edit("done = epoch + 1", "done = epoch")
    .edit('return checkpoint["done"], ', 'return len(checkpoint["losses"]), '),
    Wrong(
        "wrong_long_begins_at_one", "The loop begins after the epoch that the file names, also where there is no file."
    )
    .expect(test_script_5="partial:long-first-epoch-left-out")
    .edit("scheduler, 1 + epoch, losses)", "scheduler, epoch, losses)")
    .edit("for epoch in range(start, until)", "for epoch in range(start + 1, until)"),
    Wrong("wrong_long_one_generator", "One generator serves all epochs.")
    .expect(test_script_5="partial:long-one-generator-for-all-epochs")
    .edit("        dice = torch.Generator().manual_seed(seed + epoch)\n", "")
    .edit("    criterion = nn", "    dice = torch.Generator()\n    dice.manual_seed(seed)\n    criterion = nn"),
    Wrong("wrong_long_one_generator_made_late", "The generator is made where there is none yet.")
    .expect(test_script_5="partial:long-one-generator-for-all-epochs")
    .base("in_a_loop")
    .edit(
        "        dice = torch.Generator().manual_seed(seed + epoch)\n",
        "        dice = torch.Generator().manual_seed(seed) if epoch == start else dice\n",
    ),
    Wrong("wrong_long_seed_of_the_epoch_alone", "The seed is the number of the epoch.")
    .expect(test_script_5="partial:long-seed-without-the-run")
    .edit("dice = torch.Generator().manual_seed(seed + epoch)", "dice = torch.Generator().manual_seed(epoch)"),
    Wrong("wrong_long_seed_one_too_high", "Epochs counted from 1.")
    .expect(test_script_5="partial:long-seed-one-too-high")
    .edit("manual_seed(seed + epoch)", "manual_seed(seed + epoch + 1)"),
    Wrong("wrong_long_same_noise", "Every epoch starts from the same seed.")
    .expect(test_script_5="partial:long-order-never-changes")
    .edit("dice = torch.Generator().manual_seed(seed + epoch)", "dice = torch.Generator().manual_seed(seed + 0)"),
    Wrong("wrong_long_saved_once", "One checkpoint, after the last epoch of a call.")
    .expect(test_script_5="partial:long-saved-at-the-end")
    .edit(
        "        save_run(path, net, optimizer, scheduler, 1 + epoch, losses)\n",
        "    save_run(path, net, optimizer, scheduler, until, losses)\n",
    ),
    Wrong("wrong_long_saved_if_last", "A checkpoint is written where the epoch is the last one.")
    .expect(test_script_5="partial:long-saved-at-the-end")
    .base("in_a_loop")
    .edit(
        "        save_run(path, net, optimizer, scheduler, len(losses), losses)\n",
        "        if epoch == until - 1:\n            save_run(path, net, optimizer, scheduler, len(losses), losses)\n",
    ),
    Wrong("wrong_long_saved_every_second_epoch", "Every second epoch writes a checkpoint; nobody has a name for it.")
    .expect(test_script_5="partial")
    .edit("        save_run(path", "        if epoch % 2 or epoch + 1 == until:\n            save_run(path"),
    Wrong("wrong_long_momentum_in_a_global", "The optimizer's state is kept in the process, not read from the file.")
    .expect(test_script_5="partial")
    .edit(OPTIMIZER, "    optimizer.load_state_dict(KEPT)\n")
    .edit(
        "    torch.save(checkpoint, path)\n",
        "    torch.save(checkpoint, path)\n"
        '    globals()["KEPT"] = __import__("copy").deepcopy(optimizer.state_dict())\n',
    ),
    Wrong("wrong_long_losses_in_a_tensor", "The losses are a tensor, not a list.")
    .expect(test_script_5="partial")
    .edit("    return net, losses", "    return net, torch.tensor(losses)"),
    Wrong("wrong_long_labels_copied", "The labels are copied in each step.")
    .expect(test_script_5="partial:long-copied-every-step")
    .base("in_a_loop")
    .edit("labels = torch.tensor(y).to(device)", "labels = torch.tensor(y)")
    .edit("labels[rows])", "labels.to(device)[rows])"),
    Wrong("wrong_long_copies", "The data is copied in each step.")
    .expect(test_script_5="partial:long-copied-every-step")
    .base("in_a_loop")
    .edit("data = torch.tensor(x).to(device)", "data = torch.tensor(x)")
    .edit("inputs = data[rows] +", "inputs = torch.as_tensor(data, device=device)[rows] +"),
    Wrong("wrong_long_hard_coded", "The data goes to the first GPU, whatever is asked for.")
    .expect(test_script_5="partial:tensors-on-two-devices")
    .breaks("and on any device that it is given")
    .edit("data = torch.tensor(x).to(device)", 'data = torch.tensor(x).to("cuda")'),
    Wrong("wrong_long_noise_stays", "The noise stays on the CPU.")
    .expect(test_script_5="partial:tensors-on-two-devices")
    .base("in_a_loop")
    .edit("noise = torch.randn(x.shape, generator=dice).to(device)", "noise = torch.randn(x.shape, generator=dice)"),
    Wrong("wrong_long_last_loss", "The loss of an epoch is that of its last batch.")
    .expect(test_script_5="partial:long-last-batch-only")
    .base("in_a_loop")
    .edit("total += loss.item() * len(rows)", "total = loss.item() * len(x)"),
    Wrong("wrong_long_two_left", "Neither optimizer nor schedule come back.")
    .expect(test_script_5="partial:long-optimizer-not-restored+long-schedule-not-restored")
    .base("in_a_loop")
    .edit('{"net": net, "optimizer": optimizer, "scheduler": scheduler}', '{"net": net}'),
    Wrong("wrong_long_as_handed_out", "Nothing is mended: three faults are left.")
    .expect(test_script_5="partial:script-as-handed-out")
    .whole(HANDED_OUT),
]
