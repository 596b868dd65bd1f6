from tests.attacks.corpus import variant

held_gil = variant(
    "Hang in C while holding the interpreter's lock: a hopeless regular expression and a huge power.",
    small_graph='import re\ndef small_graph(x, y, z): return re.match(r"(a+)+$", "a" * 60 + "b")',
    softmax_cross_entropy="def softmax_cross_entropy(scores, labels): return 7 ** (7 ** 10) % 2, scores",
    expected="time small_graph softmax_cross_entropy",
)
