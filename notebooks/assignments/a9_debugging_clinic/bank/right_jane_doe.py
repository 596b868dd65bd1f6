"""Another identifier, and so other faults: what was there is kept where it can be, and made right."""

from course_lib.checks import clinic

WHO = "jane.doe"


def mended(number, *edits):
    text = clinic.script(number, WHO)
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


CELLS = {
    "student": f"student = '{WHO}'",
    "script_1": mended(
        1,
        ("    for _ in range(epochs):\n", "    for _ in range(epochs):\n        model.train()\n"),
        ("everything = np.concatenate([x_train, x_test])", "everything = x_train"),
        ("batch_loss.item()\n            hits", "batch_loss.item() * len(targets)\n            hits"),
        ("return loss_sum / len(loader), hits", "return loss_sum / len(loader.dataset), hits"),
    ),
    "diagnosis_1": 'diagnosis_1 = {"trains-in-eval-mode"} | {"statistics-from-test"} | {"mean-of-means"}',
    "script_2": mended(
        2,
        (
            "            loss_sum = loss.item() * len(inputs)\n            seen = len(inputs)\n",
            "            loss_sum, seen = loss_sum + loss.item() * len(inputs), seen + len(inputs)\n",
        ),
    ),
    "diagnosis_2": 'diagnosis_2 = ["last-batch-only"]',
    "script_3": mended(
        3,
        ("        model.train()\n", "        model.train()\n        model.backbone.requires_grad_(False).eval()\n"),
        (
            "    with torch.no_grad():\n        logits",
            "    model.train(mode=False)\n    with torch.no_grad():\n        logits",
        ),
    ),
    "diagnosis_3": 'diagnosis_3 = set(["frozen-statistics-move", "evaluates-in-training-mode"])',
    "script_4": mended(
        4,
        ("series[start + window - 1]", "series[window + start]"),
        ("    known = values\n", "    known = values[:-held_out]\n"),
    ),
    "diagnosis_4": 'diagnosis_4 = frozenset({"target-in-input", "statistics-from-test"})',
    "script_5": mended(
        5,
        (
            '    optimizer.load_state_dict(checkpoint["optimizer"])\n',
            "    for part in (optimizer, scheduler):\n"
            '        part.load_state_dict(checkpoint["optimizer" if part is optimizer else "scheduler"])\n',
        ),
        ("scheduler, epoch, losses)", "scheduler, 1 + epoch, losses)"),
    ),
    "diagnosis_5": 'diagnosis_5 = ("schedule-not-restored", "epoch-repeated")',
    "script_6": mended(
        6,
        ("normalizer.adapt(np.concatenate([x_train, x_val, x_test]))", "normalizer.adapt(data=x_train)"),
        ('monitor="loss"', 'monitor="val_loss"'),
    ),
    "diagnosis_6": 'causes = 2\ndiagnosis_6 = {"statistics-from-test", "selected-on-training"}',
}
