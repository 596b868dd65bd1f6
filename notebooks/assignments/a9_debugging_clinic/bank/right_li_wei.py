"""Another identifier, other names of variables and second spellings of the faults."""

from course_lib.checks import clinic

WHO = "Li Wei"


def mended(number, *edits):
    text = clinic.script(number, WHO)
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


CELLS = {
    "student": f'# That is me.\nstudent: str = "  {WHO.upper()} "',
    "script_1": mended(
        1,
        ("        nn.Softmax(dim=1),\n", ""),
        ("    with torch.no_grad():\n", "    model.eval()\n    with torch.inference_mode():\n"),
    ),
    "diagnosis_1": 'diagnosis_1 = {"softmax-twice"}\ndiagnosis_1 = {"evaluates-in-training-mode", "softmax-twice"}',
    "script_2": mended(
        2,
        ("                scaler.unscale_(optimizer)\n                scaler.step", "                scaler.step"),
        (
            "                norm = nn.utils",
            "                scaler.unscale_(optimizer)\n                norm = nn.utils",
        ),
        ("scaler.scale(batch_loss).backward()", "scaler.scale(batch_loss * (1 / group)).backward()"),
    ),
    "diagnosis_2": 'diagnosis_2 = {"not-divided", "clipped-while-scaled"}',
    "script_3": mended(
        3,
        (
            "        if train_loss < lowest:\n            lowest, waited = train_loss, 0\n",
            "        if val_loss == min(history['val_loss']):\n            lowest, waited = val_loss, 0\n",
        ),
        ("        model.train()\n", "        model.train()\n        model.backbone[1].eval()\n"),
        ("    with torch.no_grad():\n        logits", "    model.eval()\n    with torch.no_grad():\n        logits"),
    ),
    "diagnosis_3": "diagnosis_3 = {\n    'selected-on-training',\n    'frozen-statistics-move',\n"
    "    'evaluates-in-training-mode',\n}",
    "script_4": mended(
        4,
        ("torch.randperm(len(inputs), generator=torch.Generator().manual_seed(seed))", "torch.arange(len(inputs))"),
        ("nn.GRU(1, hidden)", "nn.GRU(1, hidden, 1, True, True)"),
    ),
    "diagnosis_4": 'diagnosis_4 = {"axis-confused", "split-at-random"}',
    "script_5": mended(
        5,
        (
            '    scheduler.load_state_dict(checkpoint["scheduler"])\n',
            '    scheduler.load_state_dict(checkpoint["scheduler"])\n'
            '    optimizer.load_state_dict(checkpoint["optimizer"])\n',
        ),
    ),
    "diagnosis_5": 'diagnosis_5 = "optimizer-not-restored"',
    "script_6": mended(
        6,
        ("from_logits=False", "from_logits=True"),
        ('monitor="loss"', 'mode="min", monitor="val_loss"'),
    ),
    "diagnosis_6": 'diagnosis_6 = {"logits-as-probabilities", "selected-on-training"}',
}
