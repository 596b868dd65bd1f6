"""Wrong answers to `checkpoint`."""

from autograder.bank import Wrong

BASES = {
    "part_by_part": """
def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    state = {"epoch": epoch, "rng": torch.random.get_rng_state()}
    state["model"] = model.state_dict()
    state["optimizer"] = optimizer.state_dict()
    if scheduler is not None:
        state["scheduler"] = scheduler.state_dict()
    if scaler is not None:
        state["scaler"] = scaler.state_dict()
    torch.save(state, path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    state = torch.load(path, map_location="cpu")
    torch.random.set_rng_state(state["rng"])
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    if scheduler is not None:
        scheduler.load_state_dict(state["scheduler"])
    if scaler is not None:
        scaler.load_state_dict(state["scaler"])
    return state["epoch"]
""",
}

WRONG = [
    Wrong("wrong_checkpoint_epoch_from_zero", "The epoch is not saved.")
    .expect(test_checkpoint="failed:checkpoint-epoch-from-zero")
    .edit(
        'state = {"epoch": epoch, "rng": torch.random.get_rng_state()}',
        'state = {"epoch": 0, "rng": torch.random.get_rng_state()}',
    ),
    Wrong("wrong_checkpoint_epoch_not_returned", "No return.")
    .breaks("`load_checkpoint` returns it")
    .expect(test_checkpoint="failed:checkpoint-epoch-not-returned")
    .edit('return state["epoch"]', 'print("epoch", state["epoch"])'),
    Wrong("wrong_checkpoint_epoch_off_by_one", "The next epoch is saved.")
    .breaks("`epoch` is the number of epochs that are done")
    .expect(test_checkpoint="failed:checkpoint-epoch-off-by-one")
    .edit(
        'state = {"epoch": epoch, "rng": torch.random.get_rng_state()}',
        'state = {"epoch": epoch + 1, "rng": torch.random.get_rng_state()}',
    ),
    Wrong("wrong_checkpoint_loading_changes_the_mode", "eval after loading.")
    .expect(test_checkpoint="partial:checkpoint-loading-changes-the-mode")
    .edit('scaler.load_state_dict(state["scaler"])', 'scaler.load_state_dict(state["scaler"])\n    model.train(False)'),
    Wrong("wrong_checkpoint_model_moved_to_cpu", "The model is put where the file was read.")
    .expect(test_checkpoint="partial:checkpoint-model-moved-to-cpu")
    .edit('model.load_state_dict(state["model"])', 'model.load_state_dict(state["model"])\n    model.to("cpu")'),
    Wrong("wrong_checkpoint_model_not_loaded", "Saved with a prefix, loaded with strict=False.")
    .breaks("brings everything back from it")
    .expect(test_checkpoint="failed:checkpoint-model-not-loaded")
    .edit("model.state_dict()", '{"module." + k: v for k, v in model.state_dict().items()}')
    .edit('model.load_state_dict(state["model"])', 'model.load_state_dict(state["model"], strict=False)'),
    Wrong("wrong_checkpoint_none_not_handled", "None is not thought of.")
    .breaks("may be `None`, when saving and then when loading too")
    .expect(test_checkpoint="partial:checkpoint-none-not-handled")
    .edit(
        'if scheduler is not None:\n        state["scheduler"] = scheduler.state_dict()',
        'state["scheduler"] = scheduler.state_dict()',
    ),
    Wrong("wrong_checkpoint_optimizer_missing", "No optimizer.")
    .expect(test_checkpoint="failed:checkpoint-optimizer-missing")
    .edit('    state["optimizer"] = optimizer.state_dict()\n', "")
    .edit('    optimizer.load_state_dict(state["optimizer"])\n', ""),
    Wrong("wrong_checkpoint_pickles_objects", "The whole model is saved.")
    .breaks("The file holds plain data only")
    .expect(test_checkpoint="partial:checkpoint-pickles-objects")
    .edit("model.state_dict()", "model")
    .edit('map_location="cpu"', 'map_location="cpu", weights_only=False')
    .edit('model.load_state_dict(state["model"])', 'model.load_state_dict(state["model"].state_dict())'),
    Wrong("wrong_checkpoint_random_state_missing", "The random state is saved and not set.")
    .breaks("The random state of PyTorch on the CPU")
    .expect(test_checkpoint="partial:checkpoint-random-state-missing")
    .edit('    torch.random.set_rng_state(state["rng"])\n', ""),
    Wrong(
        "wrong_checkpoint_random_state_on_the_device", "The random state is loaded onto the device, and set from there."
    )
    .expect(test_checkpoint="partial:checkpoint-random-state-on-the-device")
    .edit('map_location="cpu"', "map_location=torch.device(device)"),
    Wrong("wrong_checkpoint_saving_changes_the_mode", "eval before saving.")
    .breaks("Saving changes nothing")
    .expect(test_checkpoint="partial:checkpoint-saving-changes-the-mode")
    .edit('state["scaler"] = scaler.state_dict()', 'state["scaler"] = scaler.state_dict()\n    model.train(False)'),
    Wrong("wrong_checkpoint_scaler_missing", "No scaler.")
    .expect(test_checkpoint="partial:checkpoint-scaler-missing")
    .edit('    if scaler is not None:\n        state["scaler"] = scaler.state_dict()\n', "")
    .edit('    if scaler is not None:\n        scaler.load_state_dict(state["scaler"])\n', ""),
    Wrong("wrong_checkpoint_optimizer_without_options", "Of the optimizer its memory alone is saved.")
    .breaks("all four go on as the saved ones would have")
    .expect(test_checkpoint="partial:checkpoint-optimizer-without-options")
    .edit("optimizer.state_dict()", 'optimizer.state_dict()["state"]')
    .edit(
        'optimizer.load_state_dict(state["optimizer"])',
        'optimizer.load_state_dict({**optimizer.state_dict(), "state": state["optimizer"]})',
    ),
    Wrong("wrong_checkpoint_scale_alone_loaded", "Of what was saved of the scaler, the scale alone is loaded.")
    .breaks("all four go on as the saved ones would have")
    .expect(test_checkpoint="partial:checkpoint-scaler-without-its-count")
    .edit('state["scaler"])', '{**scaler.state_dict(), "scale": state["scaler"]["scale"]})'),
    Wrong("wrong_checkpoint_scale_alone_saved", "The scaler is asked for its scale, not for its state.")
    .breaks("all four go on as the saved ones would have")
    .expect(test_checkpoint="partial:checkpoint-scaler-without-its-count")
    .edit("scaler.state_dict()", "scaler.get_scale()")
    .edit('scaler.load_state_dict(state["scaler"])', 'scaler._init_scale = state["scaler"]'),
    Wrong("wrong_checkpoint_scheduler_missing", "No scheduler.")
    .breaks("all four go on as the saved ones would have")
    .expect(test_checkpoint="partial:checkpoint-scheduler-missing")
    .edit('    if scheduler is not None:\n        scheduler.load_state_dict(state["scheduler"])\n', ""),
    Wrong("wrong_checkpoint_statistics_missing", "Only parameters are saved.")
    .expect(test_checkpoint="partial:checkpoint-statistics-missing")
    .edit("model.state_dict()", "[p.detach().clone() for p in model.parameters()]")
    .edit(
        'model.load_state_dict(state["model"])',
        """with torch.no_grad():
        for p, saved in zip(model.parameters(), state["model"]):
            p.copy_(saved)""",
    ),
    Wrong("wrong_checkpoint_without_map_location", "Loaded to where it was.")
    .breaks("can be loaded for any `device`")
    .expect(test_checkpoint="partial:checkpoint-without-map-location")
    .edit('state = torch.load(path, map_location="cpu")', "state = torch.load(path)"),
    Wrong("wrong_two_in_the_checkpoint", "The random state and the schedule are both forgotten.")
    .expect(test_checkpoint="partial:checkpoint-scheduler-missing")
    .edit('    torch.random.set_rng_state(state["rng"])\n', "")
    .edit('    if scheduler is not None:\n        scheduler.load_state_dict(state["scheduler"])\n', ""),
    Wrong("wrong_checkpoint_saving_moves_the_model", "model.cpu() before the state is taken.")
    .breaks("Saving changes nothing")
    .expect(test_checkpoint="partial:checkpoint-saving-moves-the-model")
    .edit("model.state_dict()", "model.cpu().state_dict()"),
    Wrong("wrong_checkpoint_schedule_replayed", "The scheduler makes its steps again.")
    .breaks("all four go on as the saved ones would have")
    .expect(test_checkpoint="partial:checkpoint-schedule-replayed")
    .edit(
        'scheduler.load_state_dict(state["scheduler"])', 'for _ in range(state["epoch"]):\n            scheduler.step()'
    ),
    Wrong("wrong_checkpoint_seeded_instead", "A seed made of the epoch.")
    .breaks("so that dropout goes on with the same masks")
    .expect(test_checkpoint="partial:checkpoint-seeded-instead")
    .edit('torch.random.set_rng_state(state["rng"])', 'torch.random.manual_seed(state["epoch"])'),
    Wrong("wrong_checkpoint_two_files", "The optimizer has a file of its own.")
    .breaks("which writes one file")
    .expect(test_checkpoint="failed")
    .edit(
        "torch.save(state, path)",
        'torch.save(state.pop("optimizer"), str(path) + ".optimizer")\n    torch.save(state, path)',
    )
    .edit(
        'optimizer.load_state_dict(state["optimizer"])',
        'optimizer.load_state_dict(torch.load(str(path) + ".optimizer", map_location="cpu"))',
    ),
    Wrong("wrong_checkpoint_seed_saved", "The seed of the run, and not the state of the generator.")
    .breaks("so that dropout goes on with the same masks")
    .expect(test_checkpoint="partial:checkpoint-seed-saved")
    .edit('"rng": torch.random.get_rng_state()', '"seed": torch.initial_seed()')
    .edit('torch.random.set_rng_state(state["rng"])', 'torch.manual_seed(state["seed"])'),
    Wrong("wrong_checkpoint_scaler_with_a_scheduler", "The scaler is loaded if there is a scheduler, too.")
    .breaks("then there is nothing to save or load for them")
    .expect(test_checkpoint="partial:checkpoint-scaler-only-with-a-scheduler")
    .edit("if scaler is not None:\n        scaler.load", "if None not in (scheduler, scaler):\n        scaler.load"),
    Wrong("wrong_checkpoint_scaler_within_the_scheduler", "The same: one condition stands in the other, twice.")
    .expect(test_checkpoint="partial:checkpoint-scaler-only-with-a-scheduler")
    .edit(
        '    if scaler is not None:\n        state["scaler"] = scaler.state_dict()',
        '        if scaler is not None:\n            state["scaler"] = scaler.state_dict()',
    )
    .edit(
        '    if scaler is not None:\n        scaler.load_state_dict(state["scaler"])',
        '        if scaler is not None:\n            scaler.load_state_dict(state["scaler"])',
    ),
    Wrong("wrong_checkpoint_scheduler_with_a_scaler", "The scheduler is loaded if there is a scaler, too.")
    .expect(test_checkpoint="partial:checkpoint-scheduler-only-with-a-scaler")
    .edit(
        "    if scheduler is not None:\n        scheduler.load",
        "    if scheduler is not None and scaler is not None:\n        scheduler.load",
    ),
    Wrong("wrong_checkpoint_both_or_none", "Scheduler and scaler are loaded together or not at all.")
    .expect(test_checkpoint="partial:checkpoint-scheduler-only-with-a-scaler")
    .edit(
        'scheduler is not None:\n        scheduler.load_state_dict(state["scheduler"])\n    if scaler is not None:\n',
        'scheduler is not None and scaler is not None:\n        scheduler.load_state_dict(state["scheduler"])\n',
    ),
    Wrong("wrong_two_with_the_scale", "The scale and the random state are both forgotten.")
    .expect(test_checkpoint="partial:checkpoint-scaler-missing")
    .edit('    torch.random.set_rng_state(state["rng"])\n', "")
    .edit('    if scaler is not None:\n        scaler.load_state_dict(state["scaler"])\n', ""),
]
