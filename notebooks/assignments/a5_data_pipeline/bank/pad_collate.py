"""Wrong answers to `pad_collate`."""

from autograder.bank import Wrong

BASES = {
    "library": """
from torch.nn.utils.rnn import pad_sequence


def pad_collate(items, padding_value=0.0):
    rows = [sequence for sequence, _ in items]
    labels = torch.tensor([label for _, label in items])
    lengths = torch.tensor([row.size(0) for row in rows])
    padded = pad_sequence(rows, batch_first=True, padding_value=padding_value)
    mask = pad_sequence([torch.ones(n, dtype=torch.bool) for n in lengths.tolist()], batch_first=True)
    return padded, mask, lengths, labels
""",
    "concatenated": """
def pad_collate(items, padding_value=0.0):
    most = max(s.shape[0] for s, _ in items)
    rows, masks = [], []
    for s, _ in items:
        missing = most - s.shape[0]
        rows.append(torch.cat([s, torch.full((missing, s.shape[1]), padding_value, dtype=s.dtype)]))
        masks.append([True] * s.shape[0] + [False] * missing)
    lengths = [len(s) for s, _ in items]
    labels = [int(y) for _, y in items]
    return torch.stack(rows), torch.tensor(masks).bool(), torch.tensor(lengths), torch.tensor(labels)
""",
}

MASK = "mask = pad_sequence([torch.ones(n, dtype=torch.bool) for n in lengths.tolist()], batch_first=True)"

WRONG = [
    Wrong("wrong_collate_fixed_length", "Ten steps for all.")
    .expect(test_pad_collate="failed:collate-fixed-length")
    .breaks("is the length of the longest of these")
    .base("concatenated")
    .edit("most = max(s.shape[0] for s, _ in items)", "most = 10"),
    Wrong("wrong_collate_padding_value", "Zeros whatever is asked for.")
    .expect(test_pad_collate="partial:collate-padding-value-ignored")
    .breaks("is filled up with `padding_value`")
    .edit(", padding_value=padding_value)", ")"),
    Wrong("wrong_collate_shortest", "Cut to the shortest.")
    .expect(test_pad_collate="failed:collate-cut-to-the-shortest")
    .base("concatenated")
    .edit("most = max(", "most = min(")
    .edit("torch.cat([s, torch.full((missing, s.shape[1]), padding_value, dtype=s.dtype)])", "s[:most]")
    .edit("[True] * s.shape[0] + [False] * missing", "[True] * most"),
    Wrong("wrong_collate_in_front", "Padding first.")
    .expect(test_pad_collate="failed:collate-pads-in-front")
    .base("concatenated")
    .edit(
        "[s, torch.full((missing, s.shape[1]), padding_value, dtype=s.dtype)]",
        "[torch.full((missing, s.shape[1]), padding_value, dtype=s.dtype), s]",
    )
    .edit("[True] * s.shape[0] + [False] * missing", "[False] * missing + [True] * s.shape[0]"),
    Wrong("wrong_collate_mask_inverted", "True for padding.")
    .expect(test_pad_collate="failed:collate-mask-inverted")
    .breaks("where `padded` holds a step of a sequence")
    .edit("return padded, mask,", "return padded, ~mask,"),
    Wrong("wrong_collate_mask_from_values", "Not equal to the padding value.")
    .expect(test_pad_collate="partial:collate-mask-from-values")
    .breaks("A sequence may itself contain the padding value")
    .edit(MASK, "mask = torch.all(padded.ne(padding_value), dim=-1)"),
    Wrong("wrong_collate_mask_from_any_value", "Something is not equal to the padding value.")
    .expect(test_pad_collate="partial:collate-mask-from-values")
    .edit(MASK, "mask = torch.any(padded.ne(padding_value), dim=-1)"),
    Wrong("wrong_collate_mask_too_long", "One step too many.")
    .expect(test_pad_collate="failed:collate-mask-one-too-long")
    .edit(MASK, "mask = torch.arange(padded.shape[1])[None] <= lengths[:, None]"),
    Wrong("wrong_collate_lengths", "The lengths of the padded rows.")
    .expect(test_pad_collate="failed:collate-lengths-after-padding")
    .breaks("are int64 tensors of shape `(N,)`")
    .edit("return padded, mask, lengths,", "return padded, mask, torch.tensor([len(row) for row in padded]),"),
    Wrong("wrong_collate_sorted", "As pack_padded_sequence used to want it.")
    .expect(test_pad_collate="failed:collate-sorted-by-length")
    .breaks("The rows stand in the order of the items")
    .edit("    rows = [", "    items = sorted(items, key=lambda pair: pair[0].shape[0])[::-1]\n    rows = ["),
    Wrong("wrong_collate_labels_stay", "Sequences sorted, labels not.")
    .expect(test_pad_collate="failed:collate-labels-in-another-order")
    .edit(
        "rows = [sequence for sequence, _ in items]",
        "rows = sorted([sequence for sequence, _ in items], key=lambda row: -len(row))",
    ),
    Wrong("wrong_collate_float32", "A float32 sheet to write on.")
    .expect(test_pad_collate="partial:collate-always-float32")
    .breaks("It has the dtype of the sequences")
    .base("concatenated")
    .edit("padding_value, dtype=s.dtype)])", "padding_value)]).float()"),
    Wrong("wrong_collate_no_empty", "An empty sequence gets one step of padding.")
    .expect(test_pad_collate="partial:collate-empty-gets-a-step")
    .breaks("A sequence may be empty")
    .edit(
        "rows = [sequence for sequence, _ in items]",
        "rows = [s if len(s) else torch.full((1, s.shape[1]), padding_value, dtype=s.dtype) for s, _ in items]",
    ),
    Wrong("wrong_collate_empty_has_length_one", "Lengths of at least 1.")
    .expect(test_pad_collate="partial:collate-empty-gets-a-step")
    .base("concatenated")
    .edit("lengths = [len(s) for s, _ in items]", "lengths = [max(len(s), 1) for s, _ in items]")
    .edit("most = max(s.shape[0] for", "most = max(s.shape[0] or 1 for")
    .edit(
        "[True] * s.shape[0] + [False] * missing", "[True] * (s.shape[0] or 1) + [False] * (most - (s.shape[0] or 1))"
    ),
    Wrong("wrong_collate_never_without_steps", "One step at least, also where all are empty.")
    .expect(test_pad_collate="partial:collate-never-without-steps")
    .breaks("is the length of the longest of these")
    .base("concatenated")
    .edit("most = max(s.shape[0] for s, _ in items)", "most = max([1] + [s.shape[0] for s, _ in items])"),
    Wrong("wrong_collate_dict", "A dict of the four.")
    .expect(test_pad_collate="failed")
    .breaks("it returns the tuple `(padded, mask, lengths, labels)`")
    .edit(
        "return padded, mask, lengths, labels", "return dict(padded=padded, mask=mask, lengths=lengths, labels=labels)"
    ),
    Wrong("wrong_collate_mask_of_numbers", "Ones and zeros.")
    .expect(test_pad_collate="failed")
    .breaks("is a bool tensor of shape")
    .edit("return padded, mask,", "return padded, mask.float(),"),
    Wrong("wrong_collate_steps_first", "pad_sequence as it is, for the values alone.")
    .expect(test_pad_collate="failed:collate-steps-first")
    .breaks("`padded` has the shape `(N, longest, features)`")
    .edit("rows, batch_first=True, padding_value", "rows, padding_value"),
    Wrong("wrong_collate_steps_first_in_the_mask_too", "pad_sequence as it is, for values and mask.")
    .expect(test_pad_collate="failed:collate-steps-first-in-the-mask-too")
    .breaks("`padded` has the shape `(N, longest, features)`")
    .edit("rows, batch_first=True, padding_value", "rows, padding_value")
    .edit("for n in lengths.tolist()], batch_first=True)", "for n in lengths.tolist()])"),
]
