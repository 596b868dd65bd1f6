"""The visible checks of each assignment on known submissions: what is right passes, what is wrong is told in a line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest

from autograder.bank import BankEntry
from autograder.protocol.settings import settings_kept
from course_lib.checks import CheckFailed
from tests.course_lib.checks.visible import Visible, VisibleApart, errors_of, two_devices
from tests.sampling import sample

A1, A3, A4 = map(Visible, ("a1_numpy_backprop", "a3_pytorch_autograd", "a4_modules_and_optimizers"))
A2, A5 = map(Visible, ("a2_autograd_engine", "a5_data_pipeline"))
A6 = Visible("a6_cuda_training", skipped_cell="digits", slow_check="fit_reads_digits")
A7, A8 = map(VisibleApart, ("a7_tensorflow_graphs", "a8_keras"))
ALL = pytest.mark.parametrize("one", [A1, A2, A3, A4, A5, A6, A7, A8], ids=lambda one: one.name)

# An entry of the bank, or the fault that it must be called by -> what the student reads.
COMMONEST = {
    A3.name: {
        "wrong_manual_autograd": "Inside inference_mode",
        "wrong_manual_flat_b": "b has shape (N, 1), also after a sum",
        "wrong_gradients_none": "slope 0 everywhere",
        "wrong_gradients_backward": "goes into `.grad` of every leaf",
        "wrong_jacobian_piles_up": "added up over the loop",
        "wrong_squareplus_no_grad_y": "gradient that comes in times the slope",
        "wrong_squareplus_attribute": "out of PyTorch's sight",
        "wrong_squareplus_slope_saved": "start from the saved tensors",
        "wrong_squareplus_numpy": "reads numbers out of the tensor",
        "wrong_power_scale_needs": "one entry for each argument of forward",
        "wrong_penalty_constant": "constant for autograd",
        "wrong_penalty_marks": "`detach()` gives you one of your own",
        "wrong_train_no_zero": "adds to what is in `.grad` already",
        "wrong_train_broadcast": "(N, 1) minus (N,) is (N, N)",
        "wrong_train_update_lost": "This parameter did not move",
        "wrong_train_plain_tensors": "under no_grad does not require gradients",
        "wrong_train_losses_attached": "keeps its graph",
        "wrong_train_history": "recorded as a part of the network",
        "wrong_train_shared_numbers": "detach() shares its numbers",
    },
    A4.name: {
        "affine-plain-tensors": "Only an `nn.Parameter` that is an attribute of the module counts",
        "affine-not-transposed": "Which of its axes meets the features of x",
        "standardize-plain-tensors": "register_buffer",
        "standardize-mode-ignored": "statistics of the right mode",
        "block-plain-list": "of a kind that the module looks into",
        "sgd-velocity-forgotten": "v is 2 after the first step",
        "sgd-rate-of-the-start": "Options are read from the group at every step",
        "sgd-velocity-is-the-gradient": "share its memory with p.grad",
        "sgd-memory-outside-state": "stands in `self.state[p]`",
        "rmsprop-eps-in-the-root": "Is eps added after the root",
        "adam-no-correction": "m_hat is 2 and v_hat is 4",
        "adam-count-of-all-steps": "it belongs to self.state[p]",
        "snapshot-model-not-copied": "hands out the model's own tensors",
        "snapshot-spoiled-by-restore": "load_state_dict does not always copy",
        "fit-gradients-not-cleared": "were still in p.grad",
        "fit-never-moves": "Three things must happen to each group",
        "fit-means-added": "three times the weight",
        "fit-last-batch-of-a-group-only": "when are they cleared",
        "fit-mode-as-it-came": "Which one did the model come in",
        "fit-history-mean-of-means": "Each row counts once",
    },
    A5.name: {
        "wrong_images_files_not_sorted": "The order in which a folder is listed is not fixed",
        "wrong_images_channels_last": "PyTorch wants a plane for each color first",
        "wrong_images_not_scaled": "Each byte is divided by 255",
        "wrong_images_opened_at_the_start": "needs the names of the files, not what is in them",
        "wrong_images_damaged_without_path": "Write it into the message",
        "wrong_statistics_mean_of_means": "Each of the six pixels counts once",
        "wrong_statistics_sample": "divides by 5 and not by 6",
        "wrong_transforms_swapped": "What is random belongs to training",
        "wrong_normalize_in_place": "write into the tensor itself",
        "wrong_split_by_row": "Draw groups, and then take all of their rows",
        "wrong_split_global": "Make a generator of your own from the seed",
        "wrong_collate_mask_from_values": "Only the lengths tell what is padding",
        "wrong_collate_fixed_length": "As long as the longest sequence of this batch",
        "wrong_sampler_uniform": "25 % is the share of its rows",
        "wrong_sampler_without_replacement": "nothing is used up",
        "wrong_stream_doubled": "Each worker has a copy of the stream",
        "wrong_stream_opens_early": "Open a file where you read it",
        "wrong_loader_no_init": "is another one in each worker and each epoch",
        "wrong_loader_base_seed": "changes a global random generator",
        "wrong_reservoir_counts_too_late": "n counts the new item, too",
        "wrong_reservoir_forgets": "so it is full, though b has more items now",
    },
    A6.name: {
        "wrong_step_without_zero_grad": "`backward` adds to what lies in `.grad`",
        "wrong_step_without_gradients": "Weight and bias have not moved",
        "wrong_step_batch_left_on_host": "Expected all tensors to be on the same device",
        "wrong_step_moves_the_model_to_cuda": "It is told which device to use",
        "wrong_training_not_shuffled": "Which argument of DataLoader shuffles?",
        "wrong_global_generator_seeded": "global generator",
        "wrong_epoch_mean_of_batch_means": "A mean over rows",
        "wrong_epoch_mode_not_set": "worked in evaluation mode",
        "wrong_epoch_waits_too_often": "times for the device",
        "wrong_epoch_keeps_graphs": "graphs were alive",
        "wrong_evaluation_mode_not_set": "worked in training mode",
        "wrong_evaluation_mode_left_on": "Remember the mode",
        "wrong_evaluation_builds_graphs": "require gradients",
        "wrong_accuracy_in_per_cent": "The share is between 0 and 1",
        "wrong_amp_clipped_before_unscaling": "scaled or true gradients",
        "wrong_amp_step_past_the_scaler": "infinite gradients",
        "wrong_checkpoint_optimizer_missing": "bit for bit",
        "wrong_checkpoint_without_map_location": "On a machine without a GPU",
        "wrong_checkpoint_random_state_missing": "set_rng_state",
        "wrong_fit_best_not_copied": "the model's own tensors",
        "wrong_writer_not_closed": "before fit returns",
        "wrong_fit_learning_rate_constant": "learning rates of the nine steps",
    },
    A7.name: {
        "wrong_batch_size_fixed": "Cannot feed value of shape",
        "wrong_two_encoders": "or with `reuse` finds it",
        "wrong_no_control_dependency": "Does `step` depend on the updates",
        "wrong_identity_of_the_loss": "operations that wait for the updates",
        "wrong_session_each_time": "the steps before have left",
        "wrong_losses_added": "what within",
        "wrong_shapes_fixed": "which shapes, which types",
        "wrong_append_while_tracing": "in each call, or while tracing",
        "wrong_nan": "divides by zero",
        "wrong_upstream_summed": "one number for each row",
        "wrong_shuffle_before_cache": "the rows, or their order too",
        "wrong_repeat_before_batch": "see the end of an epoch",
        "wrong_no_cache": "keeps what came out before it",
        "wrong_one_gpu": "A variable lies where it is made",
        "wrong_operations_anywhere": "does not decide where it is used",
        "wrong_no_signature": "has an argument for signatures",
        "wrong_constants": "stays as it is in the graph",
    },
}

# Bank entries with a cell whose mistake the hidden checks alone see: they look at what the visible ones leave out
# (other networks, options, orders of calls).
HIDDEN_ONLY = {
    A1.name: {
        "wrong_backward_collects_in_the_cache",
        "wrong_batch_as_mask",
        "wrong_batch_as_set",
        "wrong_difference_contiguous_copy",
        "wrong_difference_flat_copy",
        "wrong_flat_index",
        "wrong_flat_index_of_8_bits",
        "wrong_flat_put",
        "wrong_flat_take",
        "wrong_gradient_of_the_bound",
        "wrong_gradient_through_a_probability_of_zero",
        "wrong_larger_number_added",
    },
    A2.name: {
        "wrong_add_new_version",
        "wrong_add_refuses_leaves",
        "wrong_backward_asks_the_result_alone",
        "wrong_backward_checks_once",
        "wrong_backward_compares_late",
        "wrong_backward_compares_the_start",
        "wrong_backward_constants_unwatched",
        "wrong_backward_keeps_without_saved",
        "wrong_backward_one_number_starts_from_one",
        "wrong_backward_raises_the_limit",
        "wrong_backward_returns_what_is_left",
        "wrong_backward_shares_new_arrays",
        "wrong_backward_vjp_kept",
        "wrong_constants_unsaved",
        "wrong_detach_with_its_gradient",
        "wrong_div_constants_unsaved",
        "wrong_fit_losses_in_an_array",
        "wrong_fit_new_arrays",
        "wrong_fit_rows_once",
        "wrong_fit_versions",
        "wrong_fit_versions_slice",
        "wrong_getitem_repeats_in_arrays",
        "wrong_matmul_array_first",
        "wrong_matmul_array_last",
        "wrong_matmul_constants_unsaved",
        "wrong_matmul_tensors_alone",
        "wrong_mlp_two_layers",
        "wrong_mul_constants_unsaved",
        "wrong_mul_saves_the_first",
        "wrong_mul_saves_the_second",
        "wrong_parameters_in_a_tuple",
        "wrong_power_of_float_zero",
        "wrong_power_of_whole_exponents",
        "wrong_relu_compares_late",
        "wrong_relu_late_mask",
        "wrong_start_generator",
        "wrong_start_uniform",
        "wrong_sum_axes_put_back_in_order",
        "wrong_sum_negative_axes_in_tuples",
        "wrong_tensor_begins_with_zeros",
        "wrong_tensor_dtype_of_arrays",
        "wrong_tensor_leaf_follows_recording",
        "wrong_tensor_list_of_inputs",
        "wrong_tensor_saves_by_place",
        "wrong_tensor_saves_inputs",
        "wrong_unbroadcast_break",
        "wrong_unbroadcast_first_axis_of_one",
        "wrong_unbroadcast_first_one",
        "wrong_views_of_one_row_unprotected",
    },
    A3.name: {
        "wrong_gradients_one_axis_at_least",
        "wrong_gradients_zeros_of_the_given",
        "wrong_manual_asymptote_for_all",
        "wrong_manual_clamped",
        "wrong_manual_slope_alone_in_double",
        "wrong_manual_slope_in_double",
        "wrong_manual_slope_not_zero",
        "wrong_penalty_absolute_values",
        "wrong_penalty_clears",
        "wrong_penalty_early_return",
        "wrong_penalty_root_squared",
        "wrong_penalty_sets_to_zero",
        "wrong_power_scale_contiguous",
        "wrong_power_scale_finished_factor",
        "wrong_squareplus_in_place_unless_recorded",
        "wrong_train_flag_of_the_first",
        "wrong_train_losses_in_one_tensor",
        "wrong_train_mask",
        "wrong_train_set",
        "wrong_train_squeezed_weights",
        "wrong_train_view_of_non_contiguous",
        "wrong_vjp_v_in_place",
    },
    A4.name: {
        "wrong_adam_clears_gradients",
        "wrong_adam_decays_without_gradient",
        "wrong_adam_decoupled_attribute",
        "wrong_adam_eps_attribute",
        "wrong_adam_gradient_in_float32",
        "wrong_adam_memory_in_float32",
        "wrong_adam_memory_stored_in_float32",
        "wrong_adam_squares_in_place",
        "wrong_adam_v_stored_in_float32",
        "wrong_affine_zeros_without_bias",
        "wrong_block_adds_in_place_but_for_x",
        "wrong_block_adds_to_the_last",
        "wrong_block_capital_letters",
        "wrong_block_empties_the_list",
        "wrong_block_part_of_a_text",
        "wrong_fit_groups_cross_epochs",
        "wrong_rmsprop_closure_as_it_comes",
        "wrong_rmsprop_refuses_a_negative_lr",
        "wrong_rmsprop_scales_the_gradient",
        "wrong_sgd_decay_attribute",
        "wrong_sgd_first_step_plain",
        "wrong_sgd_momentum_attribute",
        "wrong_sgd_skips_zero_gradients",
        "wrong_snapshot_first_kept",
        "wrong_snapshot_in_training_mode",
        "wrong_snapshot_keeps_later_memory",
        "wrong_snapshot_lr_alone",
        "wrong_snapshot_new_buffers",
        "wrong_snapshot_not_in_place",
        "wrong_snapshot_of_the_first_options",
        "wrong_snapshot_of_this_model",
        "wrong_snapshot_only_one",
        "wrong_snapshot_updates_the_memory",
        "wrong_standardize_asks_for_gradients",
        "wrong_standardize_overwritten",
        "wrong_standardize_still_without_gradients",
    },
    A5.name: {
        "wrong_augment_called_afterwards",
        "wrong_images_all_files",
        "wrong_images_any_case",
        "wrong_images_classes_without_case",
        "wrong_images_empty_class",
        "wrong_images_files_by_number",
        "wrong_images_sorted_by_path",
        "wrong_images_sorted_glob",
        "wrong_images_transform_of_bytes",
        "wrong_loader_main_process_as_it_was",
        "wrong_loader_order_ignores_seed",
        "wrong_loader_random_state",
        "wrong_loader_shuffles_batches",
        "wrong_reservoir_class_that_is_gone",
        "wrong_reservoir_full_replaces_largest",
        "wrong_sampler_labels_below_zero",
        "wrong_sampler_labels_below_zero_in_torch",
        "wrong_sampler_labels_from_zero",
        "wrong_sampler_quotas",
        "wrong_split_rounds_to_nearest",
        "wrong_statistics_difference_of_squares",
        "wrong_statistics_nan",
        "wrong_stream_needs_a_file_each",
        "wrong_stream_opens_all_first",
        "wrong_stream_sorts_in_each_pass",
        "wrong_stream_sorts_the_paths",
    },
    A6.name: {
        "wrong_amp_autocast_to_the_backward_pass",
        "wrong_amp_each_group_clipped",
        "wrong_amp_hard_coded_cuda",
        "wrong_amp_infinite_losses_left_out",
        "wrong_amp_list_of_losses_with_graphs",
        "wrong_amp_list_of_outputs",
        "wrong_amp_loss_divided_by_the_new_scale",
        "wrong_amp_loss_outside_autocast",
        "wrong_amp_mean_of_batch_means",
        "wrong_amp_moves_the_model_to_cuda",
        "wrong_amp_skipped_batches_left_out",
        "wrong_amp_without_zero_grad",
        "wrong_autocast_around_everything",
        "wrong_batches_on_the_device",
        "wrong_checkpoint_both_or_none",
        "wrong_checkpoint_saving_moves_the_model",
        "wrong_checkpoint_scaler_with_a_scheduler",
        "wrong_checkpoint_scaler_within_the_scheduler",
        "wrong_checkpoint_scheduler_missing",
        "wrong_checkpoint_scheduler_with_a_scaler",
        "wrong_checkpoint_two_files",
        "wrong_epoch_divides_by_the_data_set",
        "wrong_epoch_keeps_tensors",
        "wrong_epoch_loss_afterwards",
        "wrong_epoch_on_the_host_and_back",
        "wrong_epoch_optimizer_made_anew",
        "wrong_evaluation_copies_twice",
        "wrong_evaluation_divides_by_the_data_set",
        "wrong_evaluation_on_the_host_and_back",
        "wrong_evaluation_unfreezes_parameters",
        "wrong_evaluation_waits_too_often",
        "wrong_fit_last_of_equals",
        "wrong_fit_on_the_host_and_back",
        "wrong_fit_optimizer_made_anew",
        "wrong_fit_optimizer_of_a_copy",
        "wrong_fit_training_loss_evaluated",
        "wrong_generator_on_the_device",
        "wrong_loader_with_workers",
        "wrong_loaders_order_of_blocks",
        "wrong_numpy_seeded",
        "wrong_step_by_hand",
        "wrong_step_on_the_host_and_back",
        "wrong_step_zero_grad_late",
    },
    A7.name: {
        "wrong_apply_for_each_variable",
        "wrong_buffer_lacks_one",
        "wrong_buffer_of_a_hundred_batches",
        "wrong_buffer_of_a_thousand",
        "wrong_buffer_of_ten_batches",
        "wrong_buffer_of_ten_thousand",
        "wrong_cache_of_the_first_pass",
        "wrong_copy_of_the_optimizer",
        "wrong_first_rate",
        "wrong_first_variable",
        "wrong_float64_as_it_is",
        "wrong_graph_on_the_loss",
        "wrong_history_cleared",
        "wrong_history_written_anew",
        "wrong_init_once",
        "wrong_init_once_counted",
        "wrong_labels_of_int32",
        "wrong_loads_a_callable",
        "wrong_loads_a_method",
        "wrong_no_module",
        "wrong_one_callable",
        "wrong_one_for_a_loss",
        "wrong_one_iterator",
        "wrong_one_run",
        "wrong_one_scale_divided_by_one",
        "wrong_one_scale_for_all",
        "wrong_open_shape",
        "wrong_open_width",
        "wrong_returns_a_number_of_numpy",
        "wrong_scale_of_the_smallest",
        "wrong_scale_without_sign",
        "wrong_seed_of_zero",
        "wrong_small_buffer",
        "wrong_squeezed",
        "wrong_step_by_hand",
        "wrong_step_for_each_variable",
        "wrong_upstream_clipped",
    },
    A8.name: {
        "wrong_accuracy_of_the_last_batch",
        "wrong_call_classifier_in_evaluation_mode",
        "wrong_encoder_shape_of_two",
        "wrong_encoder_shape_unpacked",
        "wrong_mirror_exact_share",
        "wrong_mirror_neighbors",
        "wrong_mirror_one_seed_for_all",
        "wrong_mirror_permutation",
        "wrong_pair_shape_unpacked",
        "wrong_shapes_unpacked",
        "wrong_step_classifier_in_evaluation_mode",
        "wrong_step_decoder_in_evaluation_mode",
        "wrong_step_decoder_not_told",
        "wrong_step_encoder_twice",
        "wrong_step_with_frozen",
        "wrong_stop_least_improvement",
        "wrong_stop_least_improvement_of_all",
        "wrong_stop_max_starts_at_zero",
        "wrong_stop_max_starts_below_zero",
        "wrong_stop_max_starts_far_below",
        "wrong_stop_min_starts_far_above",
        "wrong_stop_rounds",
        "wrong_stop_starts_at_a_number",
        "wrong_transfer_momentum",
        "wrong_transfer_momentum_in_both",
        "wrong_tune_batchnorm_not_counted",
        "wrong_tune_counted_backward",
        "wrong_tune_layers_with_weights_counted",
        "wrong_tune_momentum",
        "wrong_tune_one_more",
        "wrong_tune_one_more_of_a_slice",
    },
}

# Wrong code overflows, divides by zero, and makes torch warn.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def devices(request: pytest.FixtureRequest) -> Iterator[None]:
    with two_devices() if request.getfixturevalue("one") is A6 else contextlib.nullcontext():
        yield


@ALL
def test_the_reference_passes_every_check(one: Visible, capsys: pytest.CaptureFixture[str]) -> None:
    results = [result for cell in one.outcomes().values() for result in cell]
    assert set(results) == {"ok"}
    assert sum(line.startswith("ok   ") for line in capsys.readouterr().out.splitlines()) == len(results) > 20


@ALL
def test_what_is_right_passes_every_check(one: Visible) -> None:
    right = [entry for entry in one.bank.values() if entry.kind == "correct"]
    asked = sample(f"visible checks, right, {one.name}", right, 4, sources=lambda entry: [entry.file, one.file])
    found = {entry.name: errors_of(one.of_entry(entry)) for entry in asked}
    assert {name: errors for name, errors in found.items() if errors} == {}


@ALL
def test_what_is_wrong_is_told_in_one_line(one: Visible) -> None:
    wrong = [entry for entry in one.bank.values() if entry.kind == "fault"]
    asked = sample(f"visible checks, wrong, {one.name}", wrong, 10, lambda entry: [entry.file, one.file], thin=3)
    unseen = set()
    for entry in asked:
        # A mistake in a1 may show in a later exercise; one in a4 must show in each cell that it spoils.
        with settings_kept():
            found = one.outcomes(dict(entry.cells), entry.extra) if one is A1 else one.of_entry(entry)
        cells = [{cell: found[cell]} for cell in entry.expected] if one is A4 else [found]
        if not all(map(errors_of, cells)):
            unseen.add(entry.name)
    assert unseen == {entry.name for entry in asked} & HIDDEN_ONLY[one.name]


@pytest.mark.parametrize("one", [A3, A4, A5, A6, A7], ids=lambda one: one.name)
def test_the_commonest_mistakes_meet_the_hint_that_helps(one: Visible) -> None:
    missing = {}
    for name in sample(f"visible checks, hints, {one.name}", list(COMMONEST[one.name]), 6):
        planted = [e for e in one.bank.values() if name == e.name or name in _faults(e)]
        said = " ".join(errors_of(one.of_entry(planted[0])))
        if COMMONEST[one.name][name] not in said:
            missing[name] = said
    assert missing == {}


@ALL
def test_untouched_cells_are_said_to_be_untouched(one: Visible) -> None:
    found = one.outcomes(one.stubs())
    for grade_id, results in found.items():
        for error in results:
            assert isinstance(error, CheckFailed), (grade_id, error)
            assert "is not written yet" in str(error), grade_id


@ALL
def test_the_points_in_the_table_are_those_of_the_cells(one: Visible) -> None:
    graded = one.assignment.notebooks[0].graded()
    for number, cell in enumerate(graded, 1):
        [row] = re.findall(rf"^\| {number} \| .* \| {cell.points:g} \|.*$", one.prose, re.MULTILINE)
        named, exercise = (_plain(text) for text in (row, (cell.grade_id or "").removeprefix("test_")))
        assert exercise in named or exercise.replace("and", "", 1) in named, (row, cell.grade_id)
    assert sum(cell.points for cell in graded) == 20


def _faults(entry: BankEntry) -> set[str]:
    return {verdict.partition(":")[2] for verdict in entry.expected.values()}


def _plain(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())
