"""A run folder is opened by nbgrader itself: its formgrader over HTTP, its export, its feedback pages."""

from __future__ import annotations

import csv
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.when_used import when_used

Gradebook = when_used("nbgrader.api.Gradebook")
CsvExportPlugin = when_used("nbgrader.plugins.CsvExportPlugin")
NAME = "a9_demo"
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Formgrader:
    """A running formgrader."""

    url: str
    token: str

    def ask(self, path: str, method: str = "GET", data: object = None) -> Any:
        """JSON from one of its API handlers."""
        return json.loads(self.page(f"/formgrader/api/{path}", method, data))

    def page(self, path: str, method: str = "GET", data: object = None) -> str:
        body = None if data is None else json.dumps(data).encode()
        headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.read().decode()


@pytest.fixture
def run(module_run: Path, tmp_path: Path) -> Path:
    run = Path(shutil.copytree(module_run, tmp_path / "run"))
    (run / "feedback" / "ada" / NAME).mkdir(parents=True)
    (run / "feedback" / "ada" / NAME / "feedback.html").write_text("our page")
    return run


@pytest.fixture
def formgrader(run: Path, tmp_path: Path) -> Iterator[Formgrader]:
    """`jupyter server` with nbgrader's extension, started in the run folder as an instructor would."""
    # A home of its own, so that no configuration of this machine takes part.
    (tmp_path / "home").mkdir()
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    environment = {**os.environ, "HOME": str(tmp_path / "home"), **{k: str(tmp_path / "home" / k) for k in folders}}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    token = secrets.token_hex(16)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", "--allow-root", f"--IdentityProvider.token={token}"]
    with open(tmp_path / "server.log", "wb") as log:
        server = subprocess.Popen(command, cwd=run, env=environment, stdout=log, stderr=log)
        try:
            found = Formgrader(f"http://127.0.0.1:{port}", token)
            deadline = time.monotonic() + 60
            while True:
                try:
                    assert found.ask("status") == {"status": True}
                    break
                except (OSError, urllib.error.URLError):
                    words = (tmp_path / "server.log").read_text()
                    assert server.poll() is None and time.monotonic() < deadline, words
                    time.sleep(0.2)
            yield found
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def test_formgrader_opens_the_run_and_grades_by_hand(formgrader: Formgrader, run: Path, students: Any) -> None:
    # One server for the whole visit: starting it takes most of the time.
    (assignment,) = formgrader.ask("assignments")
    assert (assignment["name"], assignment["num_submissions"], assignment["max_score"]) == (NAME, 4, 14)

    submissions = {s["student"]: s for s in formgrader.ask(f"submissions/{NAME}")}
    assert set(submissions) == {"ada", "bob", "dan", "Zoë O'Hara"}
    assert all(s["autograded"] and s["submitted"] for s in submissions.values())
    assert submissions["bob"]["score"] == 3.5 and submissions["dan"]["needs_manual_grade"]

    notebooks = formgrader.ask(f"submitted_notebooks/{NAME}/{NAME}")
    assert len(notebooks) == 4, "one of the autograded notebooks is not where formgrader looks"
    ada = next(n for n in notebooks if n["student"] == "ada")["id"]
    page = formgrader.page(f"/formgrader/submissions/{ada}/")
    assert "passed: 3 of 3 points" in page and "printed by mean_of" in page and "Student's answer" in page
    for other in notebooks:
        assert "Student's answer" in formgrader.page(f"/formgrader/submissions/{other['id']}/")
    pages = ("manage_assignments", f"manage_submissions/{NAME}", "gradebook", f"gradebook/{NAME}", "manage_students")
    for path in pages:
        assert "/formgrader/static/" in formgrader.page(f"/formgrader/{path}")

    # nbgrader's feedback is written beside ours.
    assert formgrader.ask(f"assignment/{NAME}/generate_feedback", "POST", {})["success"]
    feedback = {p.parent.parent.name: p.read_text() for p in (run / "feedback_nbgrader").rglob("*.html")}
    assert set(feedback) == set(submissions)
    assert "Something is wrong in test_double." in feedback["bob"] and "3.5 / 14.0" in feedback["bob"]
    assert "3.5, 9.0" not in "".join(feedback.values()), "a hidden test reached the students"
    assert (run / "feedback" / "ada" / NAME / "feedback.html").read_text() == "our page"

    grades = {g["name"]: g for g in formgrader.ask(f"grades?submission_id={ada}")}
    assert grades["why"]["auto_score"] is None and grades["why"]["needs_manual_grade"]
    put = {"manual_score": 3.0, "extra_credit": 0.5}
    stored = formgrader.ask(f"grade/{grades['why']['id']}", "PUT", put)
    assert (stored["manual_score"], stored["needs_manual_grade"]) == (3.0, False)
    (comment,) = [c for c in formgrader.ask(f"comments?submission_id={ada}") if c["name"] == "why"]
    formgrader.ask(f"comment/{comment['id']}", "PUT", {"manual_comment": "Well seen."})

    # A re-grade beside the open formgrader: it sees the new scores, and what was given by hand is still there.
    students.write_gradebook(run, (students.submit("ada"), {"test_double": 1.0}))
    again = {g["name"]: g for g in formgrader.ask(f"grades?submission_id={ada}")}
    assert (again["why"]["manual_score"], again["why"]["extra_credit"]) == (3.0, 0.5)
    assert again["test_double"]["auto_score"] == 1.0
    scores = {s["student"]: s["score"] for s in formgrader.ask(f"submissions/{NAME}")}
    assert scores["ada"] == 1 + 2 + 3.5

    # And it can go on grading: the gradebook it holds open is still the one in the folder.
    formgrader.ask(f"grade/{grades['study']['id']}", "PUT", {"manual_score": 5.0})
    (ada_now,) = [s for s in formgrader.ask(f"submissions/{NAME}") if s["student"] == "ada"]
    assert ada_now["score"] == 1 + 2 + 3.5 + 5 and not ada_now["needs_manual_grade"]


def test_nbgrader_exports_the_scores(run: Path) -> None:
    with Gradebook(f"sqlite:///{run / 'gradebook.db'}") as gradebook:
        CsvExportPlugin(to=str(run / "grades.csv")).export(gradebook)
    with open(run / "grades.csv", newline="") as file:
        found = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    assert found == {"ada": (5, 14), "bob": (3.5, 14), "dan": (0, 14), "Zoë O'Hara": (0, 14)}
