"""Wrong answers to `two_loss_model`."""

from autograder.bank import Wrong

BASES = {
    "one_method_each": """
class TwoLossModel(keras.Model):
    def __init__(self, encoder, classifier, decoder, alpha, max_norm):
        super().__init__()
        self.parts = [encoder, classifier, decoder]
        self.settings = (alpha, max_norm)
        self.means = {"loss": keras.metrics.Mean(), "accuracy": keras.metrics.Mean()}

    @property
    def metrics(self):
        return list(self.means.values())

    def call(self, x, training=False):
        encoder, classifier, _ = self.parts
        return classifier(encoder(x, training=training), training=training)

    def total_loss(self, x, y):
        encoder, classifier, decoder = self.parts
        code = encoder(x, training=True)
        logits = classifier(code, training=True)
        one_hot = ops.one_hot(ops.cast(y, "int32"), ops.shape(logits)[-1])
        named = -ops.sum(one_hot * ops.log_softmax(logits), axis=-1)
        squares = ops.square(x - decoder(code, training=True))
        loss = ops.mean(named) + self.settings[0] * ops.mean(squares)
        for penalty in self.losses:
            loss = loss + penalty
        return loss, ops.equal(ops.argmax(logits, axis=-1), ops.cast(y, "int64"))

    def clipped(self, gradients):
        flat = ops.concatenate([ops.reshape(g, (-1,)) for g in gradients])
        norm = ops.norm(flat)
        factor = ops.where(norm > self.settings[1], self.settings[1] / norm, 1.0)
        return [factor * g for g in gradients]

    def train_step(self, data):
        x, y = data
        variables = self.trainable_weights
        (loss, hits), gradients = value_and_gradients(lambda: self.total_loss(x, y), variables)
        gradients = self.clipped(gradients)
        self.optimizer.apply_gradients(zip(gradients, variables))
        self.means["loss"].update_state(loss, sample_weight=x.shape[0])
        self.means["accuracy"].update_state(ops.cast(hits, "float32"))
        return {name: mean.result() for name, mean in self.means.items()}
""",
}

WRONG = [
    Wrong("wrong_step_in_evaluation_mode", "The parts run in evaluation mode.")
    .expect(test_two_loss_model="partial:step-in-evaluation-mode")
    .breaks("In a step, all three parts run in training mode")
    .edit("code = encoder(x, training=True)", "code = encoder(x)")
    .edit("logits = classifier(code, training=True)", "logits = classifier(code)")
    .edit("decoder(code, training=True)", "decoder(code)"),
    Wrong("wrong_step_classifier_in_evaluation_mode", "Encoder and decoder alone run in training mode.")
    .expect(test_two_loss_model="partial:step-classifier-in-evaluation-mode")
    .breaks("In a step, all three parts run in training mode")
    .edit("logits = classifier(code, training=True)", "logits = classifier(code)"),
    Wrong("wrong_step_decoder_in_evaluation_mode", "Encoder and classifier alone run in training mode.")
    .expect(test_two_loss_model="partial:step-decoder-in-evaluation-mode")
    .breaks("In a step, all three parts run in training mode")
    .edit("decoder(code, training=True)", "decoder(code, training=False)"),
    Wrong("wrong_step_decoder_not_told", "Nobody tells the decoder that it is trained.")
    .expect(test_two_loss_model="partial:step-decoder-in-evaluation-mode")
    .base("right_torch_inside")
    .edit("self.decoder(code, training=True)", "self.decoder(code)"),
    Wrong("wrong_step_no_penalties", "The regularizers are forgotten.")
    .expect(test_two_loss_model="partial:step-no-penalties")
    .breaks("the sum of `self.losses`, the penalties")
    .edit("        for penalty in self.losses:\n            loss = loss + penalty\n", ""),
    Wrong("wrong_step_penalties_of_the_encoder", "The decoder's regularizer is forgotten.")
    .expect(test_two_loss_model="partial")
    .breaks("the sum of `self.losses`, the penalties")
    .edit("for penalty in self.losses:", "for penalty in encoder.losses:"),
    Wrong("wrong_step_alpha_ignored", "alpha is not used.")
    .expect(test_two_loss_model="partial:step-alpha-ignored")
    .edit("self.settings[0] * ops.mean(squares)", "ops.mean(squares)"),
    Wrong("wrong_step_alpha_shares", "alpha shares out the two losses.")
    .expect(test_two_loss_model="partial:step-alpha-as-a-share")
    .breaks("The loss of a batch is a sum of three terms")
    .edit("loss = ops.mean(named) + self", "loss = (1 - self.settings[0]) * ops.mean(named) + self"),
    Wrong("wrong_step_mixture", "A mixture of the two losses.")
    .expect(test_two_loss_model="partial:step-alpha-as-a-share")
    .base("right_torch_inside")
    .edit(
        "        loss = loss + self.alpha * torch",
        "        loss = torch.lerp(loss, torch.zeros_like(loss), self.alpha) + self.alpha * torch",
    ),
    Wrong("wrong_step_no_reconstruction", "One loss only.")
    .expect(test_two_loss_model="partial:step-no-reconstruction")
    .edit(" + self.settings[0] * ops.mean(squares)", ""),
    Wrong("wrong_step_squares_summed", "A sum over the columns.")
    .expect(test_two_loss_model="partial:step-squares-summed")
    .edit("ops.mean(squares)", "ops.sum(squares) / ops.shape(x)[0]"),
    Wrong("wrong_step_not_from_logits", "Logits are taken for probabilities.")
    .expect(test_two_loss_model="partial:step-not-from-logits")
    .edit(
        "named = -ops.sum(one_hot * ops.log_softmax(logits), axis=-1)",
        "named = keras.losses.categorical_crossentropy(one_hot, logits)",
    ),
    Wrong("wrong_step_clipped_after_apply", "Clipped when the step is made.")
    .expect(test_two_loss_model="partial:step-not-clipped")
    .breaks("If it is larger than `max_norm`, all gradients are multiplied")
    .edit("        gradients = self.clipped(gradients)\n", "")
    .edit("zip(gradients, variables))", "zip(gradients, variables))\n        gradients = self.clipped(gradients)"),
    Wrong("wrong_step_clipped_one_by_one", "Each gradient by its own norm.")
    .expect(test_two_loss_model="partial:step-clipped-one-by-one")
    .breaks("Their norm is $\\sqrt{\\sum g_i^2}$ over all entries")
    .edit("gradients = self.clipped(gradients)", "gradients = [self.clipped([g])[0] for g in gradients]"),
    Wrong("wrong_step_always_scaled", "Short gradients are stretched.")
    .expect(test_two_loss_model="partial:step-always-scaled")
    .breaks("If not, they stay as they are.")
    .edit("ops.where(norm > self.settings[1], self.settings[1] / norm, 1.0)", "self.settings[1] / norm"),
    Wrong("wrong_step_clipped_by_value", "Numbers are clipped.")
    .expect(test_two_loss_model="partial:step-clipped-by-value")
    .edit(
        "gradients = self.clipped(gradients)",
        "gradients = [ops.clip(g, -self.settings[1], self.settings[1]) for g in gradients]",
    ),
    Wrong("wrong_step_norm_squared", "No root.")
    .expect(test_two_loss_model="partial:step-norm-without-root")
    .edit("norm = ops.norm(flat)", "norm = ops.dot(flat, flat)"),
    Wrong("wrong_step_encoder_twice", "The encoder runs for each of the two losses.")
    .expect(test_two_loss_model="partial:step-encoder-twice")
    .edit("decoder(code, training=True)", "decoder(encoder(x, training=True), training=True)"),
    Wrong("wrong_step_two_steps", "The optimizer makes two steps.")
    .expect(test_two_loss_model="partial")
    .breaks(
        "`train_step(data)` makes one step for one batch.",
        "Then the optimizer that the model was compiled with makes one step",
    )
    .edit(
        "self.optimizer.apply_gradients(zip(gradients, variables))",
        "for _ in range(2):\n            self.optimizer.apply_gradients(zip(gradients, variables))",
    ),
    Wrong("wrong_step_decoder_only", "Only the decoder is trained.")
    .expect(test_two_loss_model="partial")
    .breaks("The gradients are those of the trainable variables.")
    .edit(
        "variables = self.trainable_weights", "variables = self.parts[2].trainable_weights or self.trainable_weights"
    ),
    Wrong("wrong_step_with_frozen", "A frozen part is trained.")
    .expect(test_two_loss_model="partial")
    .breaks("The gradients are those of the trainable variables.")
    .edit(
        "variables = self.trainable_weights",
        "self.parts[2].trainable = True\n        variables = self.trainable_weights",
    ),
    Wrong("wrong_step_labels_as_one_hot", "Labels are expected as one-hot rows.")
    .expect(test_two_loss_model="partial")
    .breaks("`data` is a pair `(x, y)`")
    .edit(
        'one_hot = ops.one_hot(ops.cast(y, "int32"), ops.shape(logits)[-1])',
        "one_hot = ops.reshape(y, ops.shape(logits))",
    ),
    Wrong("wrong_metrics_not_reset", "Metrics that Keras does not find.")
    .expect(test_two_loss_model="partial:step-metrics-not-reset")
    .breaks("Each epoch starts anew.")
    .edit("return list(self.means.values())", "return []"),
    Wrong("wrong_mean_of_batches", "Batches count the same, not rows.")
    .expect(test_two_loss_model="partial:step-mean-of-batches")
    .breaks("Each row counts the same, also in a last batch that is smaller")
    .edit(", sample_weight=x.shape[0]", ""),
    Wrong("wrong_last_batch_only", "The loss of the last batch.")
    .expect(test_two_loss_model="partial:step-loss-of-the-last-batch")
    .breaks("`train_step` returns a dict with the keys")
    .edit(
        "return {name: mean.result() for name, mean in self.means.items()}",
        'return {"loss": loss, "accuracy": self.means["accuracy"].result()}',
    ),
    Wrong("wrong_accuracy_of_the_last_batch", "The accuracy of the last batch.")
    .expect(test_two_loss_model="partial:step-accuracy-of-the-last-batch")
    .breaks("`train_step` returns a dict with the keys")
    .edit(
        "return {name: mean.result() for name, mean in self.means.items()}",
        'return {"loss": self.means["loss"].result(), "accuracy": ops.mean(ops.cast(hits, "float32"))}',
    ),
    Wrong("wrong_accuracy_mean_of_batches", "The accuracies of the batches count the same.")
    .expect(test_two_loss_model="partial:step-accuracy-mean-of-batches")
    .breaks("Each row counts the same, also in a last batch that is smaller")
    .edit('update_state(ops.cast(hits, "float32"))', 'update_state(ops.mean(ops.cast(hits, "float32")))'),
    Wrong("wrong_loss_without_penalties_reported", "Trained right, reported without penalties.")
    .expect(test_two_loss_model="partial")
    .breaks("The loss of a batch is a sum of three terms")
    .edit("update_state(loss,", "update_state(loss - sum(self.losses),"),
    Wrong("wrong_call_in_evaluation_mode", "training is not handed on.")
    .expect(test_two_loss_model="partial:call-mode-fixed-to-evaluation")
    .breaks("`call(x, training=False)` returns the logits of `x`, and runs the encoder")
    .edit(
        "return classifier(encoder(x, training=training), training=training)",
        "return classifier(encoder(x, training=False), training=False)",
    ),
    Wrong("wrong_call_classifier_in_evaluation_mode", "The encoder alone runs in the mode that was asked for.")
    .expect(test_two_loss_model="partial")
    .breaks("`call(x, training=False)` returns the logits of `x`, and runs the encoder")
    .edit("encoder(x, training=training), training=training)", "encoder(x, training=training), training=False)"),
    Wrong("wrong_call_in_training_mode", "Always in training mode.")
    .expect(test_two_loss_model="partial:call-mode-fixed-to-training")
    .edit("encoder(x, training=training), training=training)", "encoder(x, training=True), training=True)"),
    Wrong("wrong_call_softmax", "Probabilities.")
    .expect(test_two_loss_model="partial:call-returns-probabilities")
    .edit(
        "return classifier(encoder(x, training=training), training=training)",
        "return ops.softmax(classifier(encoder(x, training=training), training=training))",
    ),
]
