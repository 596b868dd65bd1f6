"""Plain Python loops wherever the reference has none."""

EXPECTED = {}
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    c = 0.0
    gx, gy, gz = np.empty(x.shape), np.empty(x.shape), np.empty(x.shape)
    for i in np.ndindex(x.shape):
        c += x[i] * y[i] + z[i]
        gx[i], gy[i], gz[i] = y[i], x[i], 1
    return [c, gx, gy, gz]
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    slopes = np.empty_like(x)
    it = np.nditer(x, flags=["multi_index"])
    while not it.finished:
        i = it.multi_index
        keep = x[i]
        x[i] = keep + h
        above = f(x)
        x[i] = keep - h
        below = f(x)
        x[i] = keep
        slopes[i] = (above - below) / (2.0 * h)
        it.iternext()
    return slopes
""",
    "two_layer_forward": """
def two_layer_forward(x, params):
    W1, b1, W2, b2 = params["W1"], params["b1"], params["W2"], params["b2"]
    N, H, C = len(x), len(b1), len(b2)
    hidden = np.zeros((N, H))
    scores = np.zeros((N, C))
    for n in range(N):
        for j in range(H):
            total = b1[j]
            for d in range(x.shape[1]):
                total = total + x[n, d] * W1[d, j]
            hidden[n, j] = total if total > 0 else 0.0
        for k in range(C):
            scores[n, k] = b2[k] + sum(hidden[n, j] * W2[j, k] for j in range(H))
    return scores, [x, hidden, W2]
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache
    H, C = W2.shape
    W2g, b2g = np.zeros((H, C)), np.zeros(C)
    W1g, b1g = np.zeros((x.shape[1], H)), np.zeros(H)
    for n in range(len(x)):
        for k in range(C):
            b2g[k] += dscores[n, k]
            for j in range(H):
                W2g[j, k] += hidden[n, j] * dscores[n, k]
                if hidden[n, j] > 0:
                    b1g[j] += dscores[n, k] * W2[j, k]
                    for d in range(x.shape[1]):
                        W1g[d, j] += x[n, d] * dscores[n, k] * W2[j, k]
    return dict(W1=W1g, b1=b1g, W2=W2g, b2=b2g)
""",
    "softmax_cross_entropy": """
import math


def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    loss = 0.0
    dscores = np.zeros((N, C))
    for n in range(N):
        top = max(float(s) for s in scores[n])
        weights = [math.exp(float(s) - top) for s in scores[n]]
        total = sum(weights)
        right = int(labels[n])
        loss += (math.log(total) - (float(scores[n, right]) - top)) / N
        for k in range(C):
            dscores[n, k] = (weights[k] / total - (1 if k == right else 0)) / N
    return loss, dscores
""",
}
