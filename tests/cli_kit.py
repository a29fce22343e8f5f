"""The command, run in process, and what it left behind."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from ui.cli import main


@dataclass
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def confer(*arguments: str | Path, cwd: Path | None = None, stdin: str = "", **env: str) -> Done:
    """Run the command as its entry point does, in this process: each start of another costs seconds of imports."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(cwd or Path.cwd())
        patch.setattr(sys, "argv", ["confer", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.StringIO(stdin))
        for name in ("CONFER_INDEX", "CONFER_ENCODER", "CONFER_OFFLINE", "CONFER_LLM"):
            patch.delenv(name, raising=False)
        for name, value in env.items():
            patch.setenv(name, value)
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    for stream in (out, err):
        stream.seek(0)
    return Done(code, out.read(), err.read())


def one_line(result: Done) -> str:
    """The single line that an error must be."""
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("confer: "), result.stderr
    return lines[0]
