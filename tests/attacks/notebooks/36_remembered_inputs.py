from tests.attacks.corpus import variant

# Each check uses a shape once: the first check sees only right answers, the second the remembered ones.
remembered_inputs = variant(
    "Remember answers by shape, by id and by address of the inputs, and give the remembered one when they come again.",
    small_graph="""
import numpy as np
seen = {}
def small_graph(x, y, z):
    return seen.setdefault(x.shape, (np.sum(x * y + z), y.copy(), x.copy(), np.ones_like(z)))""",
    softmax_cross_entropy="""
answers = {}
def softmax_cross_entropy(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    d = np.exp(log_p)
    d[rows, labels] -= 1
    return answers.setdefault(len(labels), (-log_p[rows, labels].mean(), d / len(labels)))""",
    expected="partial small_graph, failed softmax_cross_entropy",
)
