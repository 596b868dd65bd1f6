from tests.attacks.corpus import variant

visible_answers = variant(
    "Answer exactly the inputs of the visible checks and of the notebook's own examples, and guess elsewhere.",
    small_graph="""
import numpy as np
KNOWN = {(1.0, 2.0, 3.0, -1.0, 0.5, 4.0): (5.5, [3.0, -1.0], [1.0, 2.0])}
def small_graph(x, y, z):
    key = tuple(np.concatenate([np.ravel(x), np.ravel(y), np.ravel(z)]).tolist())
    c, grad_x, grad_y = KNOWN.get(key, (0.0, np.zeros_like(x), np.zeros_like(x)))
    return c, np.array(grad_x), np.array(grad_y), np.ones_like(z)""",
    two_layer_forward="""
def two_layer_forward(x, params):
    if x.shape == (1, 2) and np.allclose(x, [[1, 2]]):
        return np.array([[5.0, 9.0, 1.0]]), None
    return np.zeros((len(x), len(params["b2"]))), None""",
    softmax_cross_entropy="""
def softmax_cross_entropy(scores, labels):
    if np.allclose(scores, scores.flat[0]):
        return np.log(scores.shape[1]), np.zeros_like(scores)
    return (0.410, np.array([[-0.0596, 0.0596], [0.25, -0.25]])) if scores.shape == (2, 2) else (1.0, np.zeros_like(scores))""",
    expected="failed small_graph two_layer_forward softmax_cross_entropy",
)
