"""Loop for ever and swallow every interrupt."""

ENTRY, FAMILY = 42, "C"
EXPECTED = {"test_two_layer_forward": "time", "test_two_layer_backward": "failed", "test_train": "failed"}
NBGRADER = "submission lost"
UNSAFE_FOR_NBGRADER = False
CELLS = {
    "two_layer_forward": """
import signal

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True:
            pass
    except BaseException:
        continue
""",
}
