"""A program in a box reaches nobody, and learns so at once instead of waiting for a timeout."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

AT_ONCE_S = 1.0


def attempt_to_connect(port: int, path: str, abstract: str) -> dict[str, list[Any]]:
    """Error name and seconds for each way out."""
    import urllib.request

    def tcp(host: str, port: int) -> None:
        socket.create_connection((host, port), timeout=10).close()

    def udp(host: str) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.sendto(b"answers", (host, 53))

    def unix(address: str) -> None:
        with socket.socket(socket.AF_UNIX) as out:
            out.connect(address)

    def opened(*arguments: int) -> None:
        socket.socket(*arguments).close()

    ways = {
        "TCP": lambda: tcp("1.1.1.1", 443),
        "TCP by IPv6": lambda: tcp("2606:4700:4700::1111", 443),
        "UDP": lambda: udp("8.8.8.8"),
        "name": lambda: socket.getaddrinfo("example.org", 80),
        "metadata": lambda: urllib.request.urlopen("http://169.254.169.254/latest/", timeout=10),
        "loopback of the host": lambda: tcp("127.0.0.1", port),
        "socket in /tmp": lambda: unix(path),
        "abstract socket": lambda: unix("\0" + abstract),
        "docker": lambda: unix("/var/run/docker.sock"),
        "raw": lambda: opened(socket.AF_INET, socket.SOCK_RAW, 1),
        "packet": lambda: opened(17, socket.SOCK_RAW, 0),
        "vsock": lambda: opened(40, socket.SOCK_STREAM, 0),
        "netlink audit": lambda: opened(16, socket.SOCK_RAW, 9),
        "kernel crypto": lambda: opened(38, 5, 0),
    }
    found = {}
    for name, way in ways.items():
        begun = time.monotonic()
        try:
            way()
            found[name] = ["connected", time.monotonic() - begun]
        except OSError as error:
            found[name] = [type(error).__name__, time.monotonic() - begun]
    return found


@pytest.fixture
def listeners() -> Iterator[dict[str, Any]]:
    """Servers on this host that everybody may connect to; they note who does."""
    path, abstract = f"/tmp/listener-{os.getpid()}", f"listener-{os.getpid()}"
    visitors: list[Any] = []

    def accept(server: socket.socket) -> None:
        try:
            visitors.append(server.accept())
        except OSError:
            return

    servers = [socket.socket(socket.AF_INET), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)]
    for server, address in zip(servers, (("127.0.0.1", 0), path, "\0" + abstract), strict=True):
        server.bind(address)
        server.listen()
        threading.Thread(target=accept, args=(server,), daemon=True).start()
    os.chmod(path, 0o777)
    yield {"port": servers[0].getsockname()[1], "path": path, "abstract": abstract, "visitors": visitors}
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
    Path(path).unlink()


def test_every_way_out_is_closed_and_says_so_at_once(boxed: Any, listeners: dict[str, Any]) -> None:
    visitors = listeners.pop("visitors")
    found = boxed(attempt_to_connect, **listeners).result
    assert [name for name, (error, _) in found.items() if error == "connected"] == []
    assert {name: s for name, (_, s) in found.items() if s > AT_ONCE_S} == {}
    assert visitors == []


def test_loopback_inside_the_box_is_the_boxs_own(boxed: Any) -> None:
    def talk() -> list[str]:
        answers = []
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "localhost")):
            with socket.socket(family) as server:
                server.bind((host, 0))
                server.listen()
                with socket.create_connection(server.getsockname()[:2], timeout=5) as client:
                    other, _ = server.accept()
                    other.sendall(b"hello")
                    answers.append(client.recv(10).decode())
                    other.close()
        return [*answers, socket.gethostbyname(socket.gethostname())]

    assert boxed(talk).result == ["hello", "hello", "hello", "127.0.0.1"]
