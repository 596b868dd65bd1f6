from tests.attacks.corpus import variant

ignored_interrupt = variant(
    "Loop for ever and swallow every interrupt.",
    two_layer_forward="""
import signal
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True:
            pass
    except BaseException:
        continue""",
    expected="time two_layer_forward",
)
