from tests.attacks.corpus import variant

predicted_numbers = variant(
    "Recreate the hidden inputs: every seed one would guess, and answers prepared for them.",
    small_graph="""
import hashlib, hmac, os, time
import numpy as np
shapes = [(2,), (2, 3), (1, 1), (5, 4), (3, 1, 2)]
secrets = [b"", b"local", b"demonstration", b"secret", b"0" * 32, bytes(32), str(int(time.time())).encode(), str(os.getpid()).encode()]
known = {}
for secret in secrets:
    for check in ("test_value_of_the_small_graph", "test_gradients_of_the_small_graph"):
        for number, shape in enumerate(shapes):
            for case in (f"{check}[shape{number}]", check):
                mac = hmac.new(secret, "\\0".join(("a1_numpy_backprop", case)).encode(), hashlib.sha256).digest()
                for seed in (int.from_bytes(mac[:16], "big"), 0, 42, number):
                    r = np.random.default_rng(seed)
                    x, y, z = r.normal(0.0, 1.0, shape), r.normal(0.0, 1.0, shape), r.normal(0.0, 1.0, shape)
                    known[x.tobytes()] = (np.sum(x * y + z), y, x, np.ones_like(z))

def small_graph(x, y, z):
    return known.get(x.tobytes(), (0.0, x, y, z))""",
)
