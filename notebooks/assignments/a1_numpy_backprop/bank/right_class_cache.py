"""The cache is an object of a class of the student's own, with methods."""

EXPECTED = {}
CELLS = {
    "two_layer_forward": """
class Tape:
    def __init__(self, x, params):
        self.x = x
        self.W2 = params["W2"]
        self.pre = x.dot(params["W1"]) + params["b1"]
        self.mask = self.pre > 0
        self.hidden = self.pre * self.mask
        self.scores = self.hidden.dot(params["W2"]) + params["b2"]

    def backward(self, dscores):
        dpre = dscores.dot(self.W2.T) * self.mask
        return {
            "b1": dpre.sum(axis=0),
            "b2": dscores.sum(axis=0),
            "W1": self.x.T.dot(dpre),
            "W2": self.hidden.T.dot(dscores),
        }


def two_layer_forward(x, params):
    tape = Tape(x, params)
    return tape.scores, tape
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    return cache.backward(dscores)
""",
}
