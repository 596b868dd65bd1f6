"""Wrong answers to `row_norms`."""

from autograder.bank import Wrong

BASES = {
    "unit_rows": """
@tf.custom_gradient
def row_norms(x):
    top = tf.stop_gradient(tf.reduce_max(tf.abs(x), axis=-1))
    safe = tf.where(top == 0, tf.ones_like(top), top)
    shrunk = x / safe[:, None]
    length = tf.norm(shrunk, axis=-1)

    def back(dy):
        unit = shrunk / tf.where(length == 0, tf.ones_like(length), length)[:, None]
        return tf.einsum("i,ij->ij", dy, unit)

    return safe * length, back
""",
    "in_float64": """
def row_norms(x):
    @tf.custom_gradient
    def norms(x):
        tall = tf.math.l2_normalize(tf.zeros_like(x), axis=1) + x
        scale = tf.reduce_max(tf.abs(tall), axis=1, keepdims=True)
        scale = tf.maximum(scale, tf.cast(scale == 0, x.dtype))
        result = tf.sqrt(tf.reduce_sum(tf.square(tall / scale), axis=1)) * scale[:, 0]
        return result, lambda up: tf.expand_dims(up, 1) * tf.math.divide_no_nan(x, tf.expand_dims(result, 1))

    return norms(x)
""",
    "double_where": """
def row_norms(x):
    empty = tf.reduce_all(tf.equal(x, 0), axis=1, keepdims=True)
    filled = tf.where(empty, tf.ones_like(x), x)
    scale = tf.stop_gradient(tf.reduce_max(tf.abs(filled), axis=1, keepdims=True))
    norms = tf.sqrt(tf.reduce_sum((filled / scale) ** 2, axis=1)) * scale[:, 0]
    return tf.where(empty[:, 0], tf.zeros_like(norms), norms)
""",
}

WRONG = [
    Wrong("wrong_one_scale_for_all", "Rows are divided by the largest entry of the whole batch.")
    .expect(test_row_norms="partial:norms-one-scale-for-all")
    .edit("tf.reduce_max(tf.abs(x), axis=-1)", "tf.reduce_max(tf.abs(x)) * tf.ones_like(x[:, 0])"),
    Wrong("wrong_tf_norm", "tf.norm, as it is.")
    .expect(test_row_norms="partial:norms-squares-out-of-range")
    .whole("def row_norms(x):\n    return tf.norm(x, axis=1)"),
    Wrong("wrong_scale_without_sign", "Each row is divided by its largest entry, which may be a small positive one.")
    .expect(test_row_norms="partial")
    .breaks("The norms are right for all entries")
    .edit("tf.reduce_max(tf.abs(x), axis=-1)", "tf.reduce_max(x, axis=-1)")
    .edit("tf.where(top == 0,", "tf.where(top <= 0,"),
    Wrong("wrong_scale_of_the_smallest", "Each row is divided by its smallest entry that is not 0.")
    .expect(test_row_norms="partial")
    .breaks("The norms are right for all entries")
    .edit("tf.reduce_max(tf.abs(x), axis=-1)", "tf.reduce_min(tf.where(x == 0, x.dtype.max, tf.abs(x)), axis=-1)"),
    Wrong("wrong_float64_as_it_is", "tf.norm for float64.")
    .expect(test_row_norms="partial")
    .breaks("At a row of zeros the gradient is zero")
    .base("double_where")
    .edit(
        "def row_norms(x):\n", "def row_norms(x):\n    if x.dtype == tf.float64:\n        return tf.norm(x, axis=1)\n"
    ),
    Wrong("wrong_graph_as_it_is", "tf.norm while a function is traced.")
    .expect(test_row_norms="partial")
    .breaks("Norms and gradients are right inside a `tf.function`")
    .base("double_where")
    .edit(
        "def row_norms(x):\n",
        "def row_norms(x):\n    if not tf.executing_eagerly():\n        return tf.norm(x, axis=1)\n",
    ),
    Wrong("wrong_upstream_clipped", "What comes back is clipped.")
    .expect(test_row_norms="partial")
    .breaks("upstream gradients from 0.001 to 1000")
    .edit('"i,ij->ij", dy, unit', '"i,ij->ij", tf.clip_by_value(dy, x.dtype.as_numpy_dtype(-100), 100), unit'),
    Wrong("wrong_nan", "The zero is divided by.")
    .expect(test_row_norms="partial:norms-nan-at-zero")
    .breaks("At a row of zeros the gradient is zero")
    .edit("tf.where(length == 0, tf.ones_like(length), length)[:, None]", "length[:, None]"),
    Wrong("wrong_squares", "The entries are squared as they are.")
    .expect(test_row_norms="partial:norms-squares-out-of-range")
    .breaks("The norms are right for all entries")
    .whole("""@tf.custom_gradient
def row_norms(x):
    norms = tf.sqrt(tf.reduce_sum(tf.square(x), 1))
    return norms, lambda dy: dy[:, None] * tf.math.divide_no_nan(x, norms[:, None])"""),
    Wrong("wrong_norms_multiplied", "The gradient divides by the square of the norm.")
    .expect(test_row_norms="partial:norms-gradient-of-extreme-rows")
    .breaks("The gradient with respect to row")
    .whole("""def row_norms(x):
    @tf.custom_gradient
    def norms(x):
        largest = tf.reduce_max(tf.abs(x), axis=1, keepdims=True)
        scale = tf.where(largest > 0, largest, tf.ones_like(largest))
        norm = scale * tf.sqrt(tf.reduce_sum((x / scale) ** 2, axis=1, keepdims=True))

        def gradient(upstream):
            return upstream[:, None] * norm * tf.math.divide_no_nan(x, norm * norm)

        return norm[:, 0], gradient

    return norms(x)"""),
    Wrong("wrong_norms_product_first", "The row times the norm, and then the division by its square.")
    .expect(test_row_norms="partial:norms-gradient-of-extreme-rows")
    .base("in_float64")
    .edit(
        "tf.math.divide_no_nan(x, tf.expand_dims(result, 1))",
        "tf.math.divide_no_nan(x * result[:, None], result[:, None] ** 2)",
    ),
    Wrong("wrong_norms_small_number", "A small number instead of the question for 0.")
    .expect(test_row_norms="partial:norms-gradient-of-extreme-rows")
    .base("in_float64")
    .edit("tf.math.divide_no_nan(x, tf.expand_dims(result, 1))", "x / (tf.expand_dims(result, 1) + 1e-12)"),
    Wrong("wrong_number_in_the_root", "A small number under the root.")
    .expect(test_row_norms="partial:norms-squares-out-of-range")
    .whole("def row_norms(x):\n    return tf.sqrt(tf.reduce_sum(x * x, axis=1) + 1e-12)"),
    Wrong("wrong_clipped_root", "The sum of the squares is held away from 0.")
    .expect(test_row_norms="partial:norms-squares-out-of-range")
    .whole("def row_norms(x):\n    return tf.sqrt(tf.maximum(tf.reduce_sum(x * x, axis=1), 1e-12))"),
    Wrong("wrong_double_norm", "float64 takes the squares; the gradient at 0 is nan.")
    .expect(test_row_norms="partial:norms-nan-at-zero")
    .whole("def row_norms(x):\n    return tf.cast(tf.norm(tf.cast(x, tf.float64), axis=1), x.dtype)"),
    Wrong("wrong_upstream_ignored", "The gradient forgets what comes in.")
    .expect(test_row_norms="failed:norms-upstream-ignored")
    .breaks("times the upstream gradient of norm")
    .edit('tf.einsum("i,ij->ij", dy, unit)', "unit"),
    Wrong("wrong_upstream_summed", "All rows share what comes in.")
    .expect(test_row_norms="failed:norms-upstream-summed")
    .edit('tf.einsum("i,ij->ij", dy, unit)', 'tf.einsum("k,ij->ij", dy, unit)'),
    Wrong("wrong_not_divided", "The row itself goes back.")
    .expect(test_row_norms="failed:norms-gradient-not-divided")
    .edit('tf.einsum("i,ij->ij", dy, unit)', "dy[:, None] * x"),
    Wrong("wrong_numpy", "NumPy computes the norms.")
    .expect(test_row_norms="failed:norms-no-gradient")
    .breaks("inside a `tf.function` as well")
    .whole("def row_norms(x):\n    return tf.constant(np.linalg.norm(x.numpy(), axis=1))"),
    Wrong("wrong_static_shape", "The batch size must be known.")
    .expect(test_row_norms="partial:norms-size-not-known")
    .edit("tf.ones_like(top), top)", "tf.ones([x.shape[0]], x.dtype), top)"),
    Wrong("wrong_static_reshape", "The result is reshaped to a batch size that must be known.")
    .expect(test_row_norms="partial:norms-size-not-known")
    .base("in_float64")
    .edit(
        "        return result, lambda",
        "        result = tf.reshape(result, [x.shape[0]])\n        return result, lambda",
    ),
    Wrong("wrong_static_ones", "Ones for a batch size that must be known.")
    .expect(test_row_norms="partial:norms-size-not-known")
    .edit("tf.ones_like(top), top)", "tf.ones(x.shape[0], x.dtype), top)"),
    Wrong("wrong_len", "The rows are counted by Python.")
    .expect(test_row_norms="partial:norms-size-not-known")
    .base("double_where")
    .edit("tf.zeros_like(norms), norms)", "tf.zeros([len(x)], x.dtype), norms)"),
    Wrong("wrong_float32", "Everything becomes float32.")
    .expect(test_row_norms="partial")
    .breaks("with the dtype of `x`")
    .base("double_where")
    .edit("def row_norms(x):\n", "def row_norms(x):\n    x = tf.cast(x, tf.float32)\n"),
    Wrong("wrong_keepdims", "The norms stand in a column.")
    .expect(test_row_norms="failed")
    .base("double_where")
    .edit("tf.zeros_like(norms), norms)", "tf.zeros_like(norms), norms)[:, None]"),
    Wrong("wrong_one_scale_divided_by_one", "One scale for all rows, and a norm of 0 is replaced by 1 in the gradient.")
    .expect(test_row_norms="partial:norms-one-scale-for-all-over-one")
    .breaks("The norms are right for all entries")
    .whole("""
@tf.custom_gradient
def row_norms(x):
    top = tf.reduce_max(tf.abs(x))
    top = tf.where(top > 0, top, tf.ones_like(top))
    norms = top * tf.sqrt(tf.reduce_sum(tf.square(x / top), axis=1))

    def back(upstream):
        safe = tf.where(norms > 0, norms, tf.ones_like(norms))
        return x * (upstream / safe)[:, None]

    return norms, back
"""),
]
