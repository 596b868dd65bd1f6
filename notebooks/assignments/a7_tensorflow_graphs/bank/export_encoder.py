"""Wrong answers to `export_encoder` and `load_encoder`."""

from autograder.bank import Wrong

BASES = {
    "class": """
class Encoder(tf.Module):
    def __init__(self, w, b):
        super().__init__(name="encoder")
        self.w, self.b = tf.Variable(w, name="w"), tf.Variable(b, name="b")

    @tf.function
    def encode(self, x):
        return {"code": tf.tanh(x @ self.w + self.b)}


def export_encoder(w, b, folder):
    encoder = Encoder(w, b)
    spec = tf.TensorSpec((None, w.shape[0]), tf.float32, "x")
    tf.saved_model.save(encoder, str(folder), {"encode": encoder.encode.get_concrete_function(spec)})


def load_encoder(folder):
    model = tf.saved_model.load(str(folder))
    signature = model.signatures["encode"]
    return lambda x: np.asarray(signature(x=tf.convert_to_tensor(x, tf.float32))["code"]) if model else None
""",
    "session": """
def export_encoder(w, b, folder):
    model = tf.train.Checkpoint(w=tf.Variable(w), b=tf.Variable(b))

    def code(x):
        return dict(code=tf.nn.tanh(tf.add(tf.linalg.matmul(x, model.w), model.b)))

    signature = [tf.TensorSpec(shape=[None, len(w)], dtype=tf.float32, name="x")]
    tf.saved_model.save(model, folder, signatures=dict(encode=tf.function(code, input_signature=signature)))


class load_encoder:
    def __init__(self, folder):
        graph = tf.Graph()
        self.session = v1.Session(graph=graph)
        with graph.as_default():
            meta = v1.saved_model.load(self.session, ["serve"], folder)
        given = meta.signature_def["encode"]
        self.x, self.code = given.inputs["x"].name, given.outputs["code"].name

    def __call__(self, x):
        return self.session.run(self.code, {self.x: x})
""",
}

SAVED = '{"encode": encoder.encode.get_concrete_function(spec)}'
WRONG = [
    Wrong("wrong_no_signature", "The object is saved, and no signature.")
    .expect(test_export_encoder="failed:export-without-the-signature")
    .breaks("The folder has a signature")
    .edit(f", {SAVED}", ")  # "),
    Wrong("wrong_output_name", "The output has another name.")
    .expect(test_export_encoder="failed:export-output-by-another-name")
    .breaks("Its output is called")
    .edit('{"code": tf.tanh', '{"codes": tf.tanh'),
    Wrong("wrong_fixed_batch", "The signature takes the batch of an example.")
    .expect(test_export_encoder="partial:export-batch-size-fixed")
    .breaks("Its input is called `x`")
    .edit("(None, w.shape[0])", "(4, w.shape[0])"),
    Wrong("wrong_open_width", "The signature takes rows of any width.")
    .expect(test_export_encoder="partial:export-width-open")
    .breaks("Its input is called `x`")
    .edit("(None, w.shape[0])", "(None, None)"),
    Wrong("wrong_open_shape", "The signature says nothing of a shape.")
    .expect(test_export_encoder="partial:export-width-open")
    .base("session")
    .edit("shape=[None, len(w)]", "shape=None"),
    Wrong("wrong_loads_a_method", "load_encoder calls the method of this export.")
    .expect(test_export_encoder="partial:export-loads-an-attribute")
    .breaks("whoever wrote it")
    .edit("np.asarray(signature(x=tf.convert_to_tensor(x, tf.float32))", "np.asarray(model.encode(tf.constant(x))"),
    Wrong("wrong_loads_a_callable", "load_encoder calls the object that this export has saved.")
    .expect(test_export_encoder="partial:export-loads-an-attribute")
    .breaks("whoever wrote it")
    .edit("def encode(self, x)", "def __call__(self, x)")
    .edit("encoder.encode.get", "encoder.__call__.get")
    .edit("np.asarray(signature(x=tf.convert_to_tensor(x, tf.float32))", "np.asarray(model(tf.constant(x))"),
    Wrong("wrong_input_name", "The input has another name.")
    .expect(test_export_encoder="failed:export-does-not-take-the-batch")
    .edit('tf.float32, "x")', 'tf.float32, "inputs")'),
    Wrong("wrong_not_tracked", "The variables hang in a place that is not saved by name.")
    .expect(test_export_encoder="partial:export-variables-missing")
    .breaks("has the `tf.Variable`s `w` and `b`")
    .base("session")
    .edit(
        "tf.train.Checkpoint(w=tf.Variable(w), b=tf.Variable(b))",
        "tf.train.Checkpoint(weights=tf.Variable(w), bias=tf.Variable(b))",
    )
    .edit("model.w), model.b", "model.weights), model.bias"),
    Wrong("wrong_constants", "The signature holds the arrays.")
    .expect(test_export_encoder="partial:export-values-baked-in")
    .breaks("The signature computes with them")
    .base("session")
    .edit("matmul(x, model.w), model.b", "matmul(x, w), b"),
    Wrong("wrong_linear", "No tanh.")
    .expect(test_export_encoder="failed:export-without-tanh")
    .edit("tf.tanh(x @ self.w + self.b)", "tf.matmul(x, self.w) + self.b"),
    Wrong("wrong_last_folder", "A global holds the model.")
    .expect(test_export_encoder="partial:export-last-folder-for-all")
    .breaks("gives the codes of its own folder")
    .edit(
        (
            "    model = tf.saved_model.load(str(folder))\n"
            '    signature = model.signatures["encode"]\n'
            "    return lambda x: np.asarray(signature("
        ),
        (
            "    LOADED[0] = tf.saved_model.load(str(folder))\n"
            '    return lambda x: np.asarray(LOADED[0].signatures["encode"]('
        ),
    )
    .edit('["code"]) if model else None', '["code"])')
    .edit("def load_encoder", "LOADED = [None]\n\n\ndef load_encoder"),
    Wrong("wrong_returns_tensor", "The function returns a tensor.")
    .expect(test_export_encoder="partial:export-codes-as-a-tensor")
    .breaks("returns a function of an array `x`")
    .edit(
        'np.asarray(signature(x=tf.convert_to_tensor(x, tf.float32))["code"]) if',
        'signature(x=tf.convert_to_tensor(x, tf.float32))["code"] if',
    ),
    Wrong("wrong_squeezed", "Axes of size 1 are left out.")
    .expect(test_export_encoder="partial")
    .breaks("`load_encoder(folder)` returns a function of an array `x` that returns the codes as an array")
    .edit("np.asarray(signature(", "np.squeeze(signature("),
    Wrong("wrong_returns_dict", "The function returns what the signature returns.")
    .expect(test_export_encoder="partial")
    .breaks("returns a function of an array `x`")
    .edit(
        'np.asarray(signature(x=tf.convert_to_tensor(x, tf.float32))["code"]) if model else None',
        "signature(x=tf.convert_to_tensor(x, tf.float32)) if model else None",
    ),
    Wrong("wrong_writes_weights", "The folder holds a checkpoint, not a SavedModel.")
    .expect(test_export_encoder="failed")
    .breaks("which writes the encoder of exercise 1 as a SavedModel")
    .edit(
        "tf.saved_model.save(encoder, str(folder), {",
        'tf.train.Checkpoint(encoder=encoder).write(str(folder) + "/weights") or ({',
    ),
]
