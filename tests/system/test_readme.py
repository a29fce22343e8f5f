"""What the README promises, run from its own text in fresh processes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rag.settings import Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "ingest" / "sample" / "icml2026_sample.txt"


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command the way a reader would, with `confer` from this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=cwd, capture_output=True, encoding="utf-8", timeout=240, check=False,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the README's main path was followed: a list, ingested into the default index."""
    path = tmp_path_factory.mktemp("reader")
    (path / "my-list.txt").write_text(SAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    result = run([sys.executable, "-m", "ui.cli", "ingest", "my-list.txt"], path)
    assert result.returncode == 0, result.stderr
    assert "57 added" in result.stdout
    return path


def commands() -> list[str]:
    """The `confer ask` lines of the README."""
    found = re.findall(r"^\$ (confer ask .+)$", README, re.MULTILINE)
    assert found
    return found


@pytest.mark.parametrize("command", commands())
def test_shown_output_is_real(folder: Path, command: str) -> None:
    result = run([sys.executable, "-m", "ui.cli", *shlex.split(command)[1:]], folder)
    assert result.returncode == 0, result.stderr
    shown = README.split(f"$ {command}\n", 1)[1].split("```", 1)[0].split("\n$ ", 1)[0]
    assert [line.rstrip() for line in result.stdout.strip().splitlines()] == [
        line.rstrip() for line in shown.strip().splitlines()
    ]


def test_python_example_runs_as_it_stands(folder: Path) -> None:
    blocks = re.findall(r"```python\n(.+?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        result = run([sys.executable, "-c", block], folder)
        assert result.returncode == 0, result.stderr
        assert result.stdout.strip()


def test_second_ingest_encodes_nothing(folder: Path) -> None:
    result = run([sys.executable, "-m", "ui.cli", "ingest", "my-list.txt", "--json"], folder)
    report = json.loads(result.stdout)
    assert (report["unchanged"], report["encoded"], report["added"]) == (57, 0, 0)


def test_every_setting_stands_in_the_table_with_its_description() -> None:
    for name, field in Settings.model_fields.items():
        row = next((r for r in README.splitlines() if r.startswith(f"| `CONFER_{name.upper()}` |")), None)
        assert row is not None, name
        assert str(field.description).replace("|", "\\|") in row


def test_works_with_the_network_cut(folder: Path) -> None:
    if sys.platform != "linux" or run(["unshare", "-rn", "true"], folder).returncode != 0:
        pytest.skip("this machine does not let a test cut its network (unshare -rn)")
    cut = ["unshare", "-rn", sys.executable, "-m", "ui.cli"]
    fresh = run([*cut, "ingest", "my-list.txt", "--index", "offline"], folder)
    assert fresh.returncode == 0, fresh.stderr
    answer = run([*cut, "ask", "What pass@1 accuracy does Ekka reach?", "--index", "offline"], folder)
    assert answer.returncode == 0, answer.stderr
    assert "80%" in answer.stdout


def test_locale_does_not_matter(folder: Path) -> None:
    path = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    result = subprocess.run(
        [sys.executable, "-m", "ui.cli", "papers", "--json"], cwd=folder, capture_output=True, check=True, env=path
    )
    usual = run([sys.executable, "-m", "ui.cli", "papers", "--json"], folder)
    assert result.stdout.decode("utf-8") == usual.stdout
