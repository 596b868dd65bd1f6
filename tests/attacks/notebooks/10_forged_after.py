"""Tell the judge what it wants to hear about everything but the values: status, arguments, times, printed text."""

ENTRY, FAMILY = 10, "A"
EXPECTED = {"test_small_graph": "failed"}
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    return 0.0, x, y, z


def forge():
    from autograder.inside import wire
    from autograder.inside.agent import Agent

    honest = Agent.answer

    def answer(self, request, buffers):
        content, out = honest(self, request, buffers)
        verdict = {"verdict": "passed", "passed": True, "score": 2, "points": 2, "grade": 2, "failure": None}
        return {**content, **verdict, "seconds": float("nan"), "printed": "passed " * 20000}, out

    Agent.answer = answer
    wire.BadReply = Exception


forge()
""",
}
