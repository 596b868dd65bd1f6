from tests.attacks.corpus import variant

inputs_in_place = variant(
    "Change the arguments so that the wrong answer is right for them.",
    small_graph="""
def small_graph(x, y, z):
    for array in (x, y, z):
        array.setflags(write=True)
        array[...] = 0
    y[...] = x[...] = 1
    z[...] = -1
    return 0.0, y, x, z + 2""",
    softmax_cross_entropy="""
def softmax_cross_entropy(scores, labels):
    scores[...] = 0
    return np.log(scores.shape[1]), np.zeros_like(scores)""",
    expected="failed small_graph softmax_cross_entropy",
)
