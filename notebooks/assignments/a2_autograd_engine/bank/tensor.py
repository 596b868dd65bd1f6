"""Wrong answers to `Tensor`."""

from autograder.bank import Wrong

BASES = {
    "early_return": """
class Tensor(Operators):
    recording = True

    def __init__(self, data, requires_grad=False):
        self.data = np.array(data).astype(float)
        self.requires_grad, self.grad, self.version = requires_grad, None, [0]
        self.inputs, self.vjp, self.saved = (), None, []

    @classmethod
    def from_op(cls, data, inputs, vjp, saved=()):
        out = cls(data)
        needed = [t for t in inputs if t.requires_grad]
        if not needed or not cls.recording:
            return out
        out.requires_grad, out.inputs, out.vjp = True, inputs, vjp
        for t in saved:
            out.saved.append((t, t.version[0]))
        return out
""",
}

WRONG = [
    Wrong("wrong_tensor_shares", "Keeps the caller's array where it can.")
    .expect(test_tensor="failed:tensor-shares-the-array")
    .breaks("it copies the numbers, as float64")
    .edit("np.array(data).astype(float)", "np.asarray(data, float)"),
    Wrong("wrong_tensor_integers", "Keeps the dtype of the data.")
    .expect(test_tensor="failed:tensor-keeps-integers")
    .breaks("it copies the numbers, as float64")
    .edit("np.array(data).astype(float)", "np.array(data)"),
    Wrong("wrong_tensor_one_version", "The version is an attribute of the class.")
    .expect(test_tensor="failed:tensor-one-version-for-all")
    .breaks("has a `version` of its own")
    .edit("    recording = True", "    recording, version = True, [0]")
    .edit(
        "self.requires_grad, self.grad, self.version = requires_grad, None, [0]",
        "self.requires_grad, self.grad = requires_grad, None",
    ),
    Wrong("wrong_tensor_begins_with_zeros", "The gradient is 0 at first, and not None.")
    .expect(test_tensor="failed:tensor-begins-with-a-gradient")
    .breaks("and `grad` is `None`")
    .edit(
        "self.requires_grad, self.grad, self.version = requires_grad, None, [0]",
        "self.requires_grad, self.grad, self.version = requires_grad, np.zeros(np.shape(data)), [0]",
    ),
    Wrong("wrong_tensor_requires_all", "Requires gradients only if all inputs do.")
    .expect(test_tensor="partial:result-requires-all")
    .breaks("It requires gradients if at least one of the inputs does")
    .edit("if not needed or", "if len(needed) < len(inputs) or"),
    Wrong("wrong_tensor_ignores_recording", "recording is not looked at.")
    .expect(test_tensor="partial:result-ignores-recording")
    .breaks("While it is `False`, results do not require gradients")
    .edit("if not needed or not cls.recording:", "if not needed:"),
    Wrong("wrong_tensor_always_remembers", "Constants remember where they come from.")
    .expect(test_tensor="partial:result-always-remembers")
    .breaks("it remembers nothing")
    .edit("out = cls(data)", "out = cls(data)\n        out.vjp, out.inputs = vjp, tuple(inputs)"),
    Wrong("wrong_tensor_saves_list", "Notes the list in place of the number.")
    .expect(test_tensor="partial:result-saves-the-list")
    .breaks("the pair with its version number")
    .edit("(t, t.version[0])", "(t, t.version)"),
    Wrong("wrong_tensor_saves_nothing", "saved is forgotten.")
    .expect(test_tensor="partial:result-saves-nothing")
    .breaks("the pair with its version number")
    .edit("        for t in saved:\n            out.saved.append((t, t.version[0]))\n", ""),
    Wrong("wrong_tensor_recording_off", "Recording is off at first.")
    .expect(test_tensor="partial")
    .breaks("is `True` at first")
    .edit("    recording = True", "    recording = False"),
    Wrong("wrong_tensor_no_data", "Results hold a copy of the first input.")
    .expect(test_tensor="partial")
    .breaks("makes the result of an operation, which holds `data`")
    .edit("out = cls(data)", "out = cls(inputs[0].data)"),
    Wrong("wrong_tensor_saves_no_constants", "Notes only what requires gradients.")
    .expect(test_tensor="partial:result-saves-no-constants")
    .breaks("the pair with its version number")
    .edit("        for t in saved:", "        for t in filter(lambda t: t.requires_grad, saved):"),
    Wrong("wrong_tensor_saves_differentiable_ones", "The same, in a comprehension.")
    .expect(test_tensor="partial:result-saves-no-constants")
    .edit(
        "        for t in saved:\n            out.saved.append((t, t.version[0]))",
        "        out.saved = tuple((t, t.version[0]) for t in saved if t.requires_grad)",
    ),
    Wrong("wrong_tensor_saves_inputs", "Notes only those of the saved tensors that are inputs.")
    .expect(test_tensor="partial:result-saves-inputs-alone")
    .breaks("the pair with its version number")
    .edit("        for t in saved:", "        for t in filter(lambda t: any(t is i for i in inputs), saved):"),
    Wrong("wrong_tensor_saves_by_place", "The same, by identity numbers, in a comprehension.")
    .expect(test_tensor="partial:result-saves-inputs-alone")
    .edit(
        "        for t in saved:\n            out.saved.append((t, t.version[0]))",
        "        own = {id(t) for t in inputs}\n"
        "        out.saved = tuple((t, t.version[0]) for t in saved if id(t) in own)",
    ),
    Wrong("wrong_tensor_dtype_of_arrays", "float64 for numbers and lists, the array's own dtype for arrays.")
    .expect(test_tensor="failed:tensor-keeps-the-dtype-of-an-array")
    .breaks("it copies the numbers, as float64")
    .edit(
        "np.array(data).astype(float)", "np.array(data, dtype=data.dtype if isinstance(data, np.ndarray) else float)"
    ),
    Wrong("wrong_tensor_list_of_inputs", "The inputs become a list.")
    .expect(test_tensor="partial:inputs-not-a-tuple")
    .breaks("A result that requires gradients remembers `inputs`")
    .edit("True, inputs, vjp", "True, [*inputs], vjp"),
    Wrong("wrong_tensor_leaf_follows_recording", "A leaf that is made while recording is off requires nothing.")
    .expect(test_tensor="failed")
    .breaks("results do not require gradients, whatever their inputs do")
    .edit("requires_grad, None, [0]", "requires_grad and Tensor.recording, None, [0]"),
]
