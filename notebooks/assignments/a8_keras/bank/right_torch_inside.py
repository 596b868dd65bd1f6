"""PyTorch inside: the student knows the back end and uses its functions and its autograd."""

CELLS = {
    "context_mix": """
import torch


class ContextMix(layers.Layer):
    supports_masking = True

    def __init__(self, units, activation="tanh", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        features = input_shape[-1]
        self.kernel = self.add_weight(name="kernel", shape=(features, self.units))
        self.context = self.add_weight(name="context", shape=(features, self.units))
        self.bias = self.add_weight(name="bias", shape=(self.units,))

    def call(self, x, mask=None):
        keep = torch.ones(x.shape[:2], device=x.device) if mask is None else mask.to(x.dtype)
        share = keep / keep.sum(dim=1, keepdim=True).clamp(min=1)
        mean = torch.einsum("nt,ntd->nd", share, x)
        return self.activation(x @ self.kernel.value + (mean @ self.context.value)[:, None] + self.bias.value)

    def get_config(self):
        return super().get_config() | {"units": self.units, "activation": keras.activations.serialize(self.activation)}
""",
    "two_loss_model": """
import torch


class TwoLossModel(keras.Model):
    def __init__(self, encoder, classifier, decoder, alpha, max_norm):
        super().__init__()
        self.encoder, self.classifier, self.decoder = encoder, classifier, decoder
        self.alpha, self.max_norm = alpha, max_norm
        self.tracker = keras.metrics.Mean()
        self.hits = keras.metrics.Mean()

    def call(self, x, training=False):
        return self.classifier(self.encoder(x, training=training), training=training)

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        code = self.encoder(x, training=True)
        logits = self.classifier(code, training=True)
        loss = torch.nn.functional.cross_entropy(logits, y.long())
        loss = loss + self.alpha * torch.nn.functional.mse_loss(self.decoder(code, training=True), x)
        for penalty in self.losses:
            loss = loss + penalty
        loss.backward()
        parameters = [v.value for v in self.trainable_weights]
        torch.nn.utils.clip_grad_norm_(parameters, self.max_norm)
        with torch.no_grad():
            self.optimizer.apply([p.grad for p in parameters], self.trainable_weights)
        self.tracker.update_state(loss.detach(), sample_weight=len(x))
        self.hits.update_state((logits.argmax(dim=1) == y).float())
        return {"loss": self.tracker.result(), "accuracy": self.hits.result()}
""",
}
