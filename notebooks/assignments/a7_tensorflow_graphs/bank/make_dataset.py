"""Wrong answers to `make_dataset`."""

from autograder.bank import Wrong

BASES = {
    "zip_of_parts": """
def make_dataset(x, y, decode, augment, batch_size, epochs, seed):
    n = x.shape[0]
    rows = tf.data.Dataset.from_tensor_slices(x).map(decode, num_parallel_calls=2)
    labels = tf.data.Dataset.from_tensor_slices(y)
    pairs = tf.data.Dataset.zip((rows, labels)).cache()
    mixed = pairs.shuffle(n + 5, seed)
    ready = mixed.map(lambda a, b: (augment(a), b)).batch(batch_size)
    return ready.repeat(epochs)
""",
    "order_by_numpy": """
def make_dataset(x, y, decode, augment, batch_size, epochs, seed):
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(x)) for _ in range(epochs)]
    decoded = {}

    def of_epoch(order):
        def rows():
            for i in order:
                if i not in decoded:
                    decoded[i] = decode(tf.constant(x[i]))
                yield decoded[i], y[i]

        signature = (tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int64))
        made = tf.data.Dataset.from_generator(rows, output_signature=signature)
        return made.map(lambda row, label: (augment(row), label)).batch(batch_size)

    whole = of_epoch(orders[0])
    for order in orders[1:]:
        whole = whole.concatenate(of_epoch(order))
    return whole
""",
    "flat_map": """
def make_dataset(x, y, decode, augment, batch_size, epochs, seed):
    decoded = tf.stack([decode(row) for row in tf.constant(x)])
    labels = tf.constant(y)

    def epoch(number):
        keys = tf.random.stateless_uniform([len(x)], tf.stack([tf.constant(seed, tf.int64), number]))
        order = tf.data.Dataset.from_tensor_slices(tf.argsort(keys))
        return order.map(lambda i: (augment(decoded[i]), labels[i])).batch(batch_size)

    return tf.data.Dataset.range(epochs).flat_map(epoch)
""",
}

WRONG = [
    Wrong("wrong_buffer_of_a_thousand", "A buffer that is large enough for small data alone.")
    .expect(test_make_dataset="partial:dataset-shuffle-buffer-small")
    .edit("pairs.shuffle(n + 5, seed)", "pairs.shuffle(1000, seed)"),
    Wrong("wrong_buffer_of_ten_batches", "A buffer of some batches.")
    .expect(test_make_dataset="partial:dataset-shuffle-buffer-small")
    .breaks("any row may come first")
    .edit("pairs.shuffle(n + 5, seed)", "pairs.shuffle(10 * batch_size, seed)"),
    Wrong("wrong_buffer_of_a_hundred_batches", "A buffer of many batches.")
    .expect(test_make_dataset="partial:dataset-shuffle-buffer-small")
    .edit("pairs.shuffle(n + 5, seed)", "pairs.shuffle(buffer_size=100 * batch_size, seed=seed)"),
    Wrong("wrong_buffer_of_ten_thousand", "A buffer that holds most data sets, and not this one.")
    .expect(test_make_dataset="partial:dataset-shuffle-buffer-small")
    .breaks("any row may come first")
    .edit("pairs.shuffle(n + 5, seed)", "pairs.shuffle(10_000, seed)"),
    Wrong("wrong_buffer_lacks_one", "A buffer of all rows but one.")
    .expect(test_make_dataset="partial:dataset-shuffle-buffer-small")
    .breaks("any row may come first")
    .edit("pairs.shuffle(n + 5, seed)", "pairs.shuffle(max(1, n - 1), seed)"),
    Wrong("wrong_seed_of_zero", "The seed 0 counts as none.")
    .expect(test_make_dataset="partial:dataset-seed-not-used")
    .breaks("`seed` decides the orders")
    .edit("n + 5, seed)", "n + 5, seed or None)"),
    Wrong("wrong_labels_of_int32", "The labels become int32.")
    .expect(test_make_dataset="partial:dataset-labels-of-another-type")
    .edit("from_tensor_slices(y)", "from_tensor_slices(y.astype(np.int32))"),
    Wrong("wrong_list_of_batches", "All batches in a list.")
    .expect(test_make_dataset="failed:dataset-is-no-dataset")
    .breaks("It returns a `tf.data.Dataset` of batches")
    .edit("return ready.repeat(epochs)", "return list(ready.repeat(epochs))"),
    Wrong("wrong_one_iterator", "One iterator for all passes; nobody has a name for it.")
    .expect(test_make_dataset="partial")
    .breaks("One pass over the dataset gives `epochs` epochs")
    .edit(
        "    return ready.repeat(epochs)",
        "    batches = iter(ready.repeat(epochs))\n"
        "    return tf.data.Dataset.from_generator(lambda: batches, output_signature=ready.element_spec)",
    ),
    Wrong("wrong_cache_of_the_first_pass", "In a second pass each epoch decodes again.")
    .expect(test_make_dataset="partial:dataset-decodes-in-a-later-pass")
    .breaks("in a later one at most once")
    .base("order_by_numpy")
    .edit("    decoded = {}\n", "    decoded, passed = {}, []\n")
    .edit(
        "                if i not in decoded:\n"
        "                    decoded[i] = decode(tf.constant(x[i]))\n"
        "                yield decoded[i], y[i]\n",
        "                row = decoded[i] if i in decoded else decode(tf.constant(x[i]))\n"
        "                if not passed:\n"
        "                    decoded[i] = row\n"
        "                yield row, y[i]\n"
        "            if order is orders[-1]:\n"
        "                decoded.clear()\n"
        "                passed.append(True)\n",
    ),
    Wrong("wrong_no_shuffle", "Nothing is shuffled.")
    .expect(test_make_dataset="partial:dataset-not-shuffled")
    .edit("pairs.shuffle(n + 5, seed)", "pairs"),
    Wrong("wrong_shuffle_before_cache", "The order is cached, too.")
    .expect(test_make_dataset="partial:dataset-same-order-each-epoch")
    .breaks("Each epoch of a pass has another order")
    .edit(".cache()\n", ".shuffle(n, seed).cache()\n")
    .edit("pairs.shuffle(n + 5, seed)", "pairs"),
    Wrong("wrong_no_reshuffle", "One order for all epochs.")
    .expect(test_make_dataset="partial:dataset-same-order-each-epoch")
    .edit("n + 5, seed)", "n + 5, seed, reshuffle_each_iteration=False)"),
    Wrong("wrong_no_seed", "The shuffle has no seed.")
    .expect(test_make_dataset="partial:dataset-seed-not-used")
    .breaks("`seed` decides the orders")
    .edit("n + 5, seed)", "n + 5)"),
    Wrong("wrong_seed_of_its_own", "The seed is always the same.")
    .expect(test_make_dataset="partial:dataset-seed-ignored")
    .edit("n + 5, seed)", "n + 5, 42)"),
    Wrong("wrong_shuffled_batches", "The batches are shuffled.")
    .expect(test_make_dataset="partial:dataset-shuffled-after-batch")
    .edit("    mixed = pairs.shuffle(n + 5, seed)\n    ready = mixed.map(", "    ready = pairs.map(")
    .edit(".batch(batch_size)\n", ".batch(batch_size).shuffle(n, seed)\n"),
    Wrong("wrong_small_buffer", "The buffer has the size of a batch.")
    .expect(test_make_dataset="partial:dataset-shuffle-buffer-small")
    .breaks("any row may come first")
    .edit("n + 5, seed)", "batch_size, seed)"),
    Wrong("wrong_remainder", "The last batch is dropped.")
    .expect(test_make_dataset="partial:dataset-last-batch-dropped")
    .breaks("the last one of each epoch has the rest")
    .edit(".batch(batch_size)", ".batch(batch_size, drop_remainder=True)"),
    Wrong("wrong_repeat_before_batch", "Batches go on across epochs.")
    .expect(test_make_dataset="partial:dataset-batches-across-epochs")
    .breaks("No batch has rows of two epochs")
    .edit(".batch(batch_size)\n    return ready.repeat(epochs)", "\n    return ready.repeat(epochs).batch(batch_size)"),
    Wrong("wrong_repeat_before_shuffle", "The epochs are shuffled together.")
    .expect(test_make_dataset="failed:dataset-epochs-mixed")
    .breaks("In each epoch every row occurs once")
    .edit("pairs.shuffle(n + 5, seed)", "pairs.repeat(epochs).shuffle(n * epochs, seed)")
    .edit("ready.repeat(epochs)", "ready"),
    Wrong("wrong_no_cache", "Each epoch decodes again.")
    .expect(test_make_dataset="partial:dataset-decodes-each-epoch")
    .breaks("`decode` is slow")
    .edit(".cache()\n", "\n"),
    Wrong("wrong_cache_last", "What is augmented is cached.")
    .expect(test_make_dataset="partial:dataset-augmentation-cached")
    .breaks("`augment` is random")
    .edit(
        "    mixed = pairs.shuffle(n + 5, seed)\n    ready = mixed.map(lambda a, b: (augment(a), b))",
        "    mixed = pairs.map(lambda a, b: (augment(a), b)).cache()\n    ready = mixed.shuffle(n, seed)",
    ),
    Wrong("wrong_shuffled_apart", "Rows and labels are shuffled each for itself.")
    .expect(test_make_dataset="partial:dataset-labels-of-other-rows")
    .breaks("In each epoch every row occurs once")
    .edit("    pairs = tf.data.Dataset.zip((rows, labels)).cache()\n", "")
    .edit(
        "    mixed = pairs.shuffle(n + 5, seed)\n",
        "    rows, labels = rows.cache().shuffle(n, seed), labels.shuffle(n, seed + 1)\n"
        "    mixed = tf.data.Dataset.zip((rows, labels))\n",
    ),
    Wrong("wrong_labels_not_shuffled", "The labels stay in the order of the array.")
    .expect(test_make_dataset="partial:dataset-labels-of-other-rows")
    .base("flat_map")
    .edit(
        "order.map(lambda i: (augment(decoded[i]), labels[i]))",
        "order.enumerate().map(lambda k, i: (augment(decoded[i]), labels[k]))",
    ),
    Wrong("wrong_one_epoch", "There is one epoch.")
    .expect(test_make_dataset="failed")
    .breaks("One pass over the dataset gives `epochs` epochs")
    .edit("ready.repeat(epochs)", "ready"),
    Wrong("wrong_generator", "Not batches but rows.")
    .expect(test_make_dataset="failed")
    .breaks("It returns a `tf.data.Dataset` of batches")
    .edit(".batch(batch_size)", ""),
]
