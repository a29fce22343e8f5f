"""How a benchmark says what it found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def told(result: dict[str, Any], out: Path | None) -> None:
    """Print one JSON object, and write it into a file as well where one is named."""
    text = json.dumps(result)
    if out:
        out.write_text(text + "\n", encoding="utf-8")
    print(text)
