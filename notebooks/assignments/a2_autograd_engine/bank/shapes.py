"""Wrong answers to the sums, shapes and indices."""

from autograder.bank import Wrong

BASES = {
    "places": """
def summation(a, axis=None, keepdims=False):
    def vjp(g):
        if axis is not None and not keepdims:
            g = np.expand_dims(g, axis)
        return (g * np.ones(a.shape),)
    return Tensor.from_op(np.sum(a.data, axis=axis, keepdims=keepdims), (a,), vjp)


def mean(a, axis=None, keepdims=False):
    total = summation(a, axis, keepdims)
    count = a.data.size // total.data.size
    return Tensor.from_op(total.data / count, (total,), lambda g: (g / count,))


def reshape(a, shape):
    before = a.shape
    return Tensor.from_op(np.reshape(a.data, shape), (a,), lambda g: (np.reshape(g, before),))


def transpose(a, axes=None):
    if axes is None:
        axes = range(a.data.ndim)[::-1]
    axes = [int(k) for k in axes]

    def vjp(g):
        return (np.transpose(g, [axes.index(k) for k in range(len(axes))]),)
    return Tensor.from_op(np.transpose(a.data, axes), (a,), vjp)


def getitem(a, index):
    # Where each entry of the result comes from, counted through all entries of a.
    places = np.arange(a.data.size).reshape(a.shape)[index]

    def vjp(g):
        flat = np.bincount(np.ravel(places), weights=np.ravel(g), minlength=a.data.size)
        return (flat.reshape(a.shape),)
    return Tensor.from_op(a.data[index], (a,), vjp)
""",
}

WRONG = [
    Wrong("wrong_sum_axis", "The axis is not put back.")
    .expect(test_shapes="partial:summed-axis-not-put-back")
    .edit("            g = np.expand_dims(g, axis)", "            pass")
    .edit("g * np.ones(a.shape)", "np.broadcast_to(g, a.shape)"),
    Wrong("wrong_sum_axis_ones", "The same, stretched by a product.")
    .expect(test_shapes="partial:summed-axis-not-put-back-times-ones")
    .edit("            g = np.expand_dims(g, axis)", "            pass"),
    Wrong("wrong_sum_ones_axis", "The same, the other way around.")
    .expect(test_shapes="partial:summed-axis-not-put-back-times-ones")
    .edit("            g = np.expand_dims(g, axis)", "            pass")
    .edit("g * np.ones(a.shape)", "np.ones_like(a.data) * g"),
    Wrong("wrong_sum_axis_alone", "The same, in the sum alone.")
    .expect(test_shapes="partial:summed-axis-not-put-back")
    .edit(
        "            g = np.expand_dims(g, axis)\n        return (g * np.ones(a.shape),)",
        "            pass\n        return (np.broadcast_to(g, a.shape),)",
    )
    .edit(
        "    total = summation(a, axis, keepdims)\n    count = a.data.size // total.data.size\n"
        "    return Tensor.from_op(total.data / count, (total,), lambda g: (g / count,))",
        "    v = np.mean(a.data, axis=axis, keepdims=keepdims)\n"
        "    kept = np.mean(a.data, axis=axis, keepdims=True).shape\n"
        "    return Tensor.from_op(v, (a,), "
        "lambda g: (np.reshape(g, kept) * np.ones(a.shape) * v.size / a.data.size,))",
    ),
    Wrong("wrong_mean_sum", "The gradient of the mean is that of the sum.")
    .expect(test_shapes="partial:mean-not-divided")
    .breaks("They compute `a.data.sum(axis, keepdims=keepdims)` and the mean alike")
    .edit("lambda g: (g / count,)", "lambda g: (g,)"),
    Wrong("wrong_mean_all", "Divides by the number of all entries.")
    .expect(test_shapes="partial:mean-divided-by-all")
    .edit("lambda g: (g / count,)", "lambda g: (g / a.data.size,)"),
    Wrong("wrong_sum_keepdims", "keepdims is forgotten.")
    .expect(test_shapes="partial:sum-keepdims-ignored")
    .edit("np.sum(a.data, axis=axis, keepdims=keepdims)", "np.sum(a.data, axis=axis)")
    .edit(
        "    total = summation(a, axis, keepdims)\n    count = a.data.size // total.data.size\n"
        "    return Tensor.from_op(total.data / count, (total,), lambda g: (g / count,))",
        "    value = np.mean(a.data, axis=axis, keepdims=keepdims)\n"
        "    kept = np.mean(a.data, axis=axis, keepdims=True).shape\n"
        "    return Tensor.from_op(value, (a,), "
        "lambda g: (np.reshape(g, kept) * np.ones(a.shape) * value.size / a.data.size,))",
    ),
    Wrong("wrong_reshape", "The gradient keeps the new shape.")
    .expect(test_shapes="partial:reshape-not-undone")
    .edit("np.reshape(g, before)", "g"),
    Wrong("wrong_reshape_no_minus_one", "A size of -1 is taken literally.")
    .expect(test_shapes="partial")
    .breaks("One size in `shape` may be -1")
    .edit(
        "    before = a.shape",
        "    before = a.shape\n    if -1 in shape:\n        raise ValueError('sizes are positive')",
    ),
    Wrong("wrong_transpose", "The gradient keeps the new order of axes.")
    .expect(test_shapes="partial:transpose-not-undone")
    .edit("np.transpose(g, [axes.index(k) for k in range(len(axes))])", "g"),
    Wrong("wrong_transpose_without_axes", "None is no permutation.")
    .expect(test_shapes="partial:transpose-fails-without-axes")
    .breaks("or `None` to reverse their order")
    .edit("    if axes is None:\n        axes = range(a.data.ndim)[::-1]\n", ""),
    Wrong("wrong_transpose_argsort_of_none", "Sorts None, which happens to work for one axis.")
    .expect(test_shapes="partial:transpose-fails-without-axes-of-matrices")
    .edit("    if axes is None:\n        axes = range(a.data.ndim)[::-1]\n    axes = [int(k) for k in axes]\n", "")
    .edit("[axes.index(k) for k in range(len(axes))]", "np.argsort(axes)"),
    Wrong("wrong_transpose_same", "The same permutation again.")
    .expect(test_shapes="partial:transpose-axes-not-inverted")
    .breaks("`axes` is a permutation of the axes")
    .edit("[axes.index(k) for k in range(len(axes))]", "axes"),
    Wrong("wrong_transpose_reversed", "The gradient is always reversed.")
    .expect(test_shapes="partial:transpose-only-reversed")
    .breaks("`axes` is a permutation of the axes")
    .edit("np.transpose(g, [axes.index(k) for k in range(len(axes))])", "g.T"),
    Wrong("wrong_getitem_repeats", "Repeated indices overwrite each other.")
    .expect(test_shapes="partial:getitem-repeats-lost")
    .breaks("If an entry is picked more than once")
    .edit(
        "        flat = np.bincount(np.ravel(places), weights=np.ravel(g), minlength=a.data.size)",
        "        flat = np.zeros(a.data.size)\n        flat[np.ravel(places)] = np.ravel(g)",
    ),
    Wrong("wrong_getitem_shape", "The gradient is handed on in the shape of the result.")
    .expect(test_shapes="partial:getitem-not-placed")
    .edit("return (flat.reshape(a.shape),)", "return (g,)"),
    Wrong("wrong_getitem_marks", "Counts instead of gradients.")
    .expect(test_shapes="partial:getitem-marks-only")
    .edit("weights=np.ravel(g)", "weights=np.ones(places.size)"),
    Wrong("wrong_getitem_numbers", "Takes single numbers and slices alone.")
    .expect(test_shapes="partial")
    .breaks("`index` is whatever NumPy takes")
    .edit(
        "    places = ",
        "    if isinstance(index, (list, np.ndarray)):\n"
        "        raise TypeError('an index is a number or a slice')\n    places = ",
    ),
    Wrong("wrong_moves_forward", "Reshapes in another order.")
    .expect(test_shapes="partial")
    .breaks("They compute `a.data.reshape(shape)`")
    .edit("np.reshape(a.data, shape)", "np.reshape(a.data, shape, order='F')")
    .edit("np.reshape(g, before)", "np.reshape(g, before, order='F')"),
    Wrong("wrong_views", "The results hold NumPy's views.")
    .expect(test_shapes="partial:views-change-unseen")
    .breaks("a change in place of `a` changes the result too", "that needs the result's old numbers is refused")
    .edit(
        "def reshape(a, shape):",
        "def _view(data, a, vjp):\n    result = Tensor.from_op(data, (a,), vjp)\n"
        "    result.data = data\n    return result\n\n\ndef reshape(a, shape):",
    )
    .edit(
        "return Tensor.from_op(np.reshape(a.data, shape), (a,), lambda",
        "return _view(np.reshape(a.data, shape), a, lambda",
    )
    .edit(
        "return Tensor.from_op(np.transpose(a.data, axes), (a,), vjp)",
        "return _view(np.transpose(a.data, axes), a, vjp)",
    )
    .edit("return Tensor.from_op(a.data[index], (a,), vjp)", "return _view(a.data[index], a, vjp)"),
    Wrong("wrong_sum_axes_one_by_one", "The axes are put back one by one, as they were given.")
    .expect(test_shapes="partial:axes-put-back-one-by-one")
    .breaks("or a tuple of numbers")
    .edit(
        "            g = np.expand_dims(g, axis)",
        "            for k in axis if isinstance(axis, tuple) else [axis]:\n                g = np.expand_dims(g, k)",
    ),
    Wrong("wrong_mean_first_of_axes", "Divides by the size of the first of the axes.")
    .expect(test_shapes="partial:mean-divided-by-one-axis")
    .breaks("They compute `a.data.sum(axis, keepdims=keepdims)` and the mean alike")
    .edit(
        "count = a.data.size // total.data.size",
        "count = a.data.size if axis is None else a.shape[np.ravel(axis)[0]]",
    ),
    Wrong("wrong_mean_one_axis", "Takes one axis alone.")
    .expect(test_shapes="partial:mean-over-one-axis-alone")
    .breaks("or a tuple of numbers")
    .edit("count = a.data.size // total.data.size", "count = a.data.size if axis is None else a.data.shape[axis]"),
    Wrong("wrong_shapes_two_mistakes", "The first of the axes, and the same permutation again.")
    .expect(test_shapes="partial:mean-divided-by-one-axis")
    .edit(
        "count = a.data.size // total.data.size",
        "count = a.data.size if axis is None else a.shape[axis if type(axis) is int else axis[0]]",
    )
    .edit("[axes.index(k) for k in range(len(axes))]", "axes"),
    Wrong("wrong_view_of_reshape", "The result of reshape holds NumPy's view.")
    .expect(test_shapes="partial:reshape-view-changes-unseen")
    .breaks("that needs the result's old numbers is refused")
    .edit(
        "    return Tensor.from_op(np.reshape(a.data, shape), (a,), lambda g: (np.reshape(g, before),))",
        "    y = Tensor.from_op(0, (a,), lambda g: (np.reshape(g, before),))\n"
        "    y.data = np.reshape(a.data, shape)\n    return y",
    ),
    Wrong("wrong_view_of_transpose", "That of transpose, as from_op does not copy; the others do.")
    .expect(test_shapes="partial:transpose-view-changes-unseen")
    .edit("np.reshape(a.data, shape), (a,)", "np.reshape(a.data, shape).copy(), (a,)")
    .edit("a.data[index], (a,)", "np.array(a.data[index]), (a,)")
    .base("early_return", cell="tensor")
    .edit("out = cls(data)", "out = cls(0)\n        out.data = np.asarray(data, dtype=float)"),
    Wrong("wrong_views_of_two", "Those of reshape and transpose.")
    .expect(test_shapes="partial:reshape-view-changes-unseen+transpose-view-changes-unseen")
    .edit("a.data[index], (a,)", "np.array(a.data[index]), (a,)")
    .base("early_return", cell="tensor")
    .edit("out = cls(data)", "out = cls(0)\n        out.data = np.asarray(data, dtype=float)"),
    Wrong("wrong_view_of_slices", "That of getitem.")
    .expect(test_shapes="partial:getitem-view-changes-unseen")
    .edit("np.reshape(a.data, shape), (a,)", "np.array(np.reshape(a.data, shape)), (a,)")
    .edit("np.transpose(a.data, axes), (a,)", "np.array(np.transpose(a.data, axes)), (a,)")
    .base("early_return", cell="tensor")
    .edit("out = cls(data)", "out = cls(0)\n        out.data = np.asarray(data, dtype=float)"),
    Wrong("wrong_getitem_repeats_in_tuples", "Repeats add up for a list, and not in a tuple of indices.")
    .expect(test_shapes="partial:getitem-repeats-lost-in-tuples")
    .breaks("If an entry is picked more than once")
    .edit(
        "        return (flat.reshape(a.shape),)",
        "        if isinstance(index, tuple):\n            flat = np.zeros(a.data.size)\n"
        "            flat[np.ravel(places)] = np.ravel(g)\n        return (flat.reshape(a.shape),)",
    ),
    Wrong("wrong_getitem_adds_for_lists", "The same, by the kind of the index.")
    .expect(test_shapes="partial:getitem-repeats-lost-in-tuples")
    .edit("    places = np.arange(a.data.size).reshape(a.shape)[index]\n", "")
    .edit(
        "        flat = np.bincount(np.ravel(places), weights=np.ravel(g), minlength=a.data.size)\n"
        "        return (flat.reshape(a.shape),)",
        "        back = np.zeros(a.shape)\n        if isinstance(index, (list, np.ndarray)):\n"
        "            np.add.at(back, index, g)\n        else:\n            back[index] += g\n        return (back,)",
    ),
    Wrong("wrong_getitem_adds_for_lists_alone", "Repeats add up if the index is a list.")
    .expect(test_shapes="partial:getitem-repeats-lost-in-tuples")
    .breaks("If an entry is picked more than once")
    .edit(
        "        return (flat.reshape(a.shape),)",
        "        if not isinstance(index, list):\n            flat = np.zeros(a.data.size)\n"
        "            flat[np.ravel(places)] = np.ravel(g)\n        return (flat.reshape(a.shape),)",
    ),
    Wrong("wrong_getitem_repeats_in_arrays", "Repeats add up, but not if the index is an array.")
    .expect(test_shapes="partial:getitem-repeats-lost-in-arrays")
    .breaks("If an entry is picked more than once")
    .edit(
        "        return (flat.reshape(a.shape),)",
        "        if isinstance(index, np.ndarray):\n            flat = np.zeros(a.data.size)\n"
        "            flat[np.ravel(places)] = np.ravel(g)\n        return (flat.reshape(a.shape),)",
    ),
    Wrong("wrong_sum_negative_axes_in_tuples", "In a tuple, an axis counted from the end is not put back.")
    .expect(test_shapes="partial")
    .breaks("a number, which may be negative, or a tuple of numbers")
    .edit(
        "np.expand_dims(g, axis)", "np.expand_dims(g, axis if isinstance(axis, int) else tuple(abs(k) for k in axis))"
    ),
    Wrong("wrong_views_of_one_row_unprotected", "The result of an index that is a number shares its numbers.")
    .expect(test_shapes="partial")
    .breaks("a change in place of `a` changes the result too")
    .edit(
        "    return Tensor.from_op(a.data[index], (a,), vjp)",
        "    out = Tensor.from_op(a.data[index], (a,), vjp)\n    if isinstance(index, int):\n"
        "        out.data = a.data[index, ...]\n    return out",
    ),
    Wrong("wrong_sum_axes_put_back_in_order", "Axes are put back one by one, as sorted.")
    .expect(test_shapes="partial:summed-axes-put-back-one-by-one")
    .breaks("a number, which may be negative, or a tuple of numbers")
    .edit(
        "            g = np.expand_dims(g, axis)",
        "            for k in sorted(axis) if isinstance(axis, tuple) else [axis]:\n"
        "                g = np.expand_dims(g, k)",
    ),
]
