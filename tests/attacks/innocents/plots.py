"""Plots by %matplotlib inline, with savefig, and a table in HTML."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    ("", "%matplotlib inline\n%config InlineBackend.figure_format = 'svg'"),
    (
        "test_train",
        """
import matplotlib.pyplot as plt
from IPython.display import HTML

hs = np.logspace(-12, 0, 30)
plt.loglog(hs, [abs(numerical_gradient(lambda v: np.sin(v).sum(), np.ones(1), h)[0] - np.cos(1)) for h in hs])
plt.xlabel("h")
plt.savefig("errors.png")
plt.show()
HTML("<table><tr><td>1</td></tr></table>")
""",
    ),
]
