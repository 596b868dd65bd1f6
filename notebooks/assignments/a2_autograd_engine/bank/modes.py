"""Wrong answers to `no_grad`, `detach` and `add_`."""

from autograder.bank import Wrong

BASES = {
    "generator": """
from contextlib import contextmanager


@contextmanager
def no_grad():
    before = Tensor.recording
    Tensor.recording = False
    try:
        yield
    finally:
        Tensor.recording = before


def detach(a):
    twin = Tensor(a.data)
    twin.data, twin.version = a.data, a.version
    return twin


def add_(a, value):
    if a.requires_grad and Tensor.recording:
        raise RuntimeError("would not be recorded")
    a.data[...] = a.data + value
    a.version[0] = a.version[0] + 1
    return a
""",
}
WRONG = [
    Wrong("wrong_no_grad_exception", "An exception leaves recording off.")
    .expect(test_modes="partial:no-grad-not-restored-after-an-exception")
    .breaks("Afterwards `Tensor.recording` is what it was before the `with`")
    .edit(
        "    try:\n        yield\n    finally:\n        Tensor.recording = before",
        "    yield\n    Tensor.recording = before",
    ),
    Wrong("wrong_no_grad_nested", "Switches on at the end whatever was before.")
    .expect(test_modes="partial:no-grad-always-switches-on")
    .breaks("Afterwards `Tensor.recording` is what it was before the `with`")
    .edit("        Tensor.recording = before", "        Tensor.recording = True"),
    Wrong("wrong_no_grad_stays_off", "Never switches back.")
    .expect(test_modes="partial:no-grad-never-switched-back", test_training="passed")
    .breaks("Afterwards `Tensor.recording` is what it was before the `with`")
    .edit("        Tensor.recording = before", "        pass"),
    Wrong("wrong_no_grad_nothing", "Does nothing.")
    .expect(test_modes="partial:no-grad-records")
    .breaks("Results made inside do not require gradients")
    .edit("    Tensor.recording = False", "    pass"),
    Wrong("wrong_no_grad_swallows", "The exception is swallowed.")
    .expect(test_modes="partial:no-grad-swallows-the-exception")
    .breaks("The exception goes on to the caller")
    .edit("    finally:", "    except Exception:\n        pass\n    finally:"),
    Wrong("wrong_no_grad_function", "A plain function that switches off.")
    .expect(test_modes="partial")
    .breaks("to be used as `with no_grad():`")
    .edit("@contextmanager\n", "")
    .edit("    try:\n        yield\n    finally:\n        Tensor.recording = before", "    return before"),
    Wrong("wrong_detach_copy", "Copies the numbers.")
    .expect(test_modes="partial:detach-copies")
    .breaks("They share the array itself")
    .edit("twin.data, twin.version = a.data, a.version", "twin.version = a.version"),
    Wrong("wrong_detach_version", "Shares the numbers, with a version of its own.")
    .expect(test_modes="partial:detach-own-version")
    .breaks("They share the array itself")
    .edit("twin.data, twin.version = a.data, a.version", "twin.data = a.data"),
    Wrong("wrong_detach_keeps", "The detached tensor keeps its past.")
    .expect(test_modes="partial:detach-keeps-the-graph")
    .breaks("It returns a leaf that does not require gradients")
    .edit("    return twin", "    return a"),
    Wrong("wrong_detach_cuts", "Cuts off the tensor itself.")
    .expect(test_modes="partial:detach-cuts-its-origin")
    .breaks("`a` stays as it is")
    .edit("    return twin", "    a.requires_grad, a.vjp, a.inputs = False, None, ()\n    return twin"),
    Wrong("wrong_add_new_array", "Makes a new array.")
    .expect(test_modes="partial:add-makes-a-new-array")
    .breaks("It adds a number or an array to the numbers of `a` in place")
    .edit("a.data[...] = a.data + value", "a.data = np.add(a.data, value)"),
    Wrong("wrong_add_version", "The version stays.")
    .expect(test_modes="partial:add-version-forgotten")
    .breaks("It raises the version by one")
    .edit("    a.version[0] = a.version[0] + 1\n", ""),
    Wrong("wrong_add_allowed", "A recorded change is not refused.")
    .expect(test_modes="partial:add-not-refused")
    .breaks("it raises `RuntimeError` and changes nothing")
    .edit("if a.requires_grad and Tensor.recording:", "if a.data is None:"),
    Wrong("wrong_add_refuses_leaves", "A result may be changed.")
    .expect(test_modes="partial:add-refuses-leaves-alone")
    .breaks("it raises `RuntimeError` and changes nothing")
    .edit("if a.requires_grad and Tensor.recording:", "if a.requires_grad and a.vjp is None and Tensor.recording:"),
    Wrong("wrong_add_none", "Returns nothing.")
    .expect(test_modes="partial")
    .breaks("records nothing, and returns `a`")
    .edit("    a.version[0] = a.version[0] + 1\n    return a", "    a.version[0] = a.version[0] + 1"),
    Wrong("wrong_add_new_version", "Another list for the version.")
    .expect(test_modes="partial")
    .breaks("It raises the version by one")
    .edit("a.version[0] = a.version[0] + 1", "a.version = [a.version[0] + 1]"),
    Wrong("wrong_add_raises_the_version_first", "A refused change has raised the version.")
    .expect(test_modes="partial:add-refused-raises-the-version")
    .breaks("it raises `RuntimeError` and changes nothing")
    .edit("    if a.requires_grad and", "    a.version[0] = a.version[0] + 1\n    if a.requires_grad and")
    .edit(
        "    a.data[...] = a.data + value\n    a.version[0] = a.version[0] + 1\n", "    a.data[...] = a.data + value\n"
    ),
    Wrong("wrong_add_refuses_too_late", "Refuses after the numbers have changed.")
    .expect(test_modes="partial:add-refused-too-late")
    .edit("    if a.requires_grad and", "    a.data[...] = a.data + value\n    if a.requires_grad and")
    .edit("    a.data[...] = a.data + value\n    a.version[0]", "    a.version[0]"),
    Wrong("wrong_add_refuses_last", "Refuses when all is done.")
    .expect(test_modes="partial:add-refused-too-late-version-and-all")
    .edit("a.requires_grad and Tensor.recording", "a.data is None")
    .edit(
        "    return a",
        "    if Tensor.recording and a.requires_grad:\n        raise RuntimeError('too late')\n    return a",
    ),
    Wrong("wrong_add_refuses_in_silence", "Returns without a change, and without an exception.")
    .expect(test_modes="partial:add-refused-in-silence")
    .breaks("it raises `RuntimeError` and changes nothing")
    .edit('raise RuntimeError("would not be recorded")', "return a"),
    Wrong("wrong_detach_with_its_past", "A copy of all attributes that no longer requires gradients.")
    .expect(test_modes="partial:detach-keeps-the-past")
    .breaks("It returns a leaf that does not require gradients")
    .edit("twin.data, twin.version = a.data, a.version", "vars(twin).update(vars(a), requires_grad=False)"),
    Wrong("wrong_detach_with_its_gradient", "The detached tensor begins with the gradient of a.")
    .expect(test_modes="partial:detach-keeps-the-gradient")
    .breaks("It returns a leaf that does not require gradients")
    .edit("    return twin", "    twin.grad = a.grad\n    return twin"),
]
