"""Which paper a record is: the same text is the same paper, whatever file, markup or spacing it came in."""

from __future__ import annotations

import hashlib
import re

from rag.text import fold


def content_id(abstract: str) -> str:
    """Return the id of a paper known only by its abstract: `c` and 16 hex digits of its folded words."""
    words = re.sub(r"[\W_]+", " ", fold(abstract).casefold()).strip()
    return "c" + hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]
