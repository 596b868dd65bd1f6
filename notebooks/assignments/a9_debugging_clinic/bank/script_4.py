"""Mends of script 4, and what is left or done wrong in others. The script is that of the reference's identifier."""

from autograder.bank import Wrong
from course_lib.checks import clinic

HANDED_OUT = clinic.script(4, "reference 895")
ORDER = "torch.randperm(len(windows), generator=torch.Generator().manual_seed(seed)).to(device)"


def mended(*edits):
    text = HANDED_OUT
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


BASES = {
    "time_first": mended(
        (ORDER, "torch.tensor(range(len(windows)), device=device)"),
        ("self.gru(windows.unsqueeze(2))", "self.gru(windows.T.unsqueeze(2))"),
        ("self.out(states[:, -1])", "self.out(states[-1])"),
    ),
    "sorted_again": mended(
        (ORDER, "torch.arange(len(targets)).to(device)"),
        ("nn.GRU(1, hidden)", "nn.GRU(input_size=1, hidden_size=hidden, batch_first=True)"),
    ),
    "transposed_twice": mended(
        (ORDER, "torch.linspace(0, len(windows) - 1, len(windows), device=device).round().long()"),
        ("self.gru(windows.unsqueeze(2))", "self.gru(windows.unsqueeze(2).transpose(0, 1))"),
        (
            "        return self.out(states[:, -1])",
            "        states = states.transpose(0, 1)\n        return self.out(states[:, -1])",
        ),
    ),
}

WRONG = [
    Wrong("wrong_forecast_answer_inside", "The target is the last value of the window.")
    .expect(test_script_4="partial:forecast-target-in-input")
    .edit(
        "targets = torch.stack([series[start + window] for start in range(count)])", "targets = windows[:, -1].clone()"
    ),
    Wrong("wrong_forecast_first_windows", "The first windows are kept for the test.")
    .expect(test_script_4="partial:forecast-tested-on-the-beginning")
    .edit("order[:-held_out], order[-held_out:]", "order[held_out:], order[:held_out]"),
    Wrong("wrong_forecast_random_test", "The test windows come from everywhere.")
    .expect(test_script_4="partial:forecast-split-at-random")
    .base("sorted_again")
    .edit(
        "torch.arange(len(targets)).to(device)",
        "torch.randperm(len(targets), generator=torch.Generator().manual_seed(seed)).to(device)",
    ),
    Wrong("wrong_forecast_columns", "Predictions (N, 1) meet targets (N,).")
    .expect(test_script_4="partial:forecast-shapes-broadcast")
    .edit("self.out(states[-1]).squeeze(1)", "self.out(states[-1])"),
    Wrong("wrong_forecast_column_of_targets", "The training targets become a column, the predictions stay one.")
    .expect(test_script_4="partial:forecast-predictions-in-a-column")
    .base("sorted_again")
    .edit("self.out(states[:, -1]).squeeze(1)", "self.out(states[:, -1])")
    .edit("net(windows[rows]) - targets[rows]", "net(windows[rows]) - targets[rows].unsqueeze(1)"),
    Wrong("wrong_forecast_flat_in_training", "The predictions become flat where the network learns, and only there.")
    .expect(test_script_4="partial:forecast-predictions-in-a-column")
    .edit("self.out(states[-1]).squeeze(1)", "self.out(states[-1])")
    .edit("net(windows[rows]) - targets[rows]", "net(windows[rows])[:, 0] - targets[rows]"),
    Wrong("wrong_forecast_flat_outside", "Whoever calls the network takes an axis away; `forward` does not.")
    .expect(test_script_4="partial:forecast-column-flattened-outside")
    .base("sorted_again")
    .edit("self.out(states[:, -1]).squeeze(1)", "self.out(states[:, -1])")
    .edit("net(windows[rows]) - targets[rows]", "net(windows[rows])[:, 0] - targets[rows]")
    .edit("net(windows[test_rows]) * spread", "net(windows[test_rows])[:, 0] * spread"),
    Wrong("wrong_forecast_targets_outside", "The targets are made right after `make_windows`, which is as it was.")
    .expect(test_script_4="partial:forecast-targets-mended-outside")
    .base("transposed_twice")
    .edit("series[start + window] for", "series[start + window - 1] for")
    .edit(
        "    order = ",
        "    targets = (values[window:] - center) / spread\n    order = ",
    ),
    Wrong("wrong_forecast_all_axes", "A single window loses the axis of the rows, too.")
    .expect(test_script_4="partial:forecast-one-window-loses-its-axis")
    .base("transposed_twice")
    .edit(".squeeze(1)", ".squeeze()"),
    Wrong("wrong_forecast_flat_list", "The predictions lose their axes before they become a list.")
    .expect(test_script_4="partial:forecast-one-window-loses-its-axis")
    .base("sorted_again")
    .edit('history["predictions"] = predictions.tolist()', 'history["predictions"] = predictions.squeeze().tolist()'),
    Wrong("wrong_forecast_batch_as_time", "The layer walks along the batch.")
    .expect(test_script_4="partial:forecast-axis-confused")
    .base("sorted_again")
    .edit(", batch_first=True", ", batch_first=False"),
    Wrong("wrong_forecast_whole_series", "Mean and deviation of the whole series.")
    .expect(test_script_4="partial:forecast-statistics-from-test")
    .base("transposed_twice")
    .edit("center = known.mean()\n    spread = known.std()", "center = values.mean()\n    spread = values.std()"),
    Wrong("wrong_forecast_values_left_out", "Mean and deviation stop a window before the training part ends.")
    .expect(test_script_4="partial:forecast-statistics-leave-values-out")
    .edit("known = values[: len(values) - held_out]", "known = values[: -(held_out + window)]"),
    Wrong("wrong_forecast_first_of_each_window", "Mean and deviation of what the training windows begin with.")
    .expect(test_script_4="partial:forecast-statistics-leave-values-out")
    .base("sorted_again")
    .edit("known = values[: len(values) - held_out]", "known = make_windows(values, window)[0][:-held_out, 0]"),
    Wrong("wrong_forecast_windows_counted", "Mean and deviation of all training windows.")
    .expect(test_script_4="partial:forecast-statistics-of-windows")
    .base("transposed_twice")
    .edit("known = values[: len(values) - held_out]", "known = make_windows(values, window)[0][:-held_out]"),
    Wrong("wrong_forecast_scaled_error", "The error is in scaled units; nobody has a name for it.")
    .expect(test_script_4="partial")
    .edit("predictions = net(windows[test_rows]) * spread + center", "predictions = net(windows[test_rows])"),
]
