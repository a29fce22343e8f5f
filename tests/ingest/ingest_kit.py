"""Lists and helpers for the ingest tests. All abstracts are invented."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ingest.readers import ListFile, RawRecord, plain, read_file
from rag.index import Index

HEADER = "ICML 2026 论文列表"
ROOT = Path(__file__).parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"

ABSTRACTS = (
    "Weather stations drift over the years, and nobody recalibrates them on time. We introduce **DriftNet** (**Drift** "
    "Network), a model that learns the drift of each sensor from its neighbours. On 412 stations it halves the error, "
    "from $1.8\\,^{\\circ}C$ to $0.9\\,^{\\circ}C$. Code is at https://example.org/drift_net.",
    "Sorting networks of depth $O(\\log n)$ are known, but their constants are huge. We show that a randomised "
    "construction of depth $7.6 \\log_2 n$ sorts almost all inputs, cf. Fig. 2 of Dr. Doe (CFA). Then we prove that no "
    "network of depth $3\\log_2 n$ can do the same.",
    "本文研究如何用少量标注数据训练手语识别模型。我们提出一种名为 SignLite 的轻量方法，先在无标注视频上预训练，再用少量样本微调。"
    "在三个公开数据集上，该方法只用百分之五的标注就达到了完全监督的精度。实验还表明模型可以在手机上实时运行。",
    "A garden robot must tell weeds from crops that look almost alike. We collect \\emph{WeedBench}, 21,000 photographs "
    'of Na\\"{\\i}ve beds labelled by growers, and compare nine detectors on it. The best one still confuses young '
    "carrots with mayweed in 14\\% of all cases, i.e. far too often for field use.",
    "Auctions with budgets are hard to price. Our mechanism, a two-stage clock auction, is truthful in expectation and "
    "gives at least $1-1/e$ of the optimal welfare. It needs no prior and runs in time $O(m \\log m)$ for $m$ bids. "
    "Simulations on 30 markets agree with the bound.",
    "Reading speed varies between people and texts. We model it with a Hölder-continuous latent process and fit it to "
    "eye-tracking data of 88 readers. The model explains more variance than word length and frequency together, and it "
    "transfers to a second language without refitting.",
    "Compilers choose the order of passes by hand-made rules. We present PassOrder, a search that reuses the partial "
    "results of earlier compilations. It finds orders that make 120 of 150 programs faster, by 6% on average, and it "
    "never needs more than ten minutes a program.",
    "Coral reefs are mapped by divers, slowly and at great cost. We train a segmentation model on drone images and "
    "correct its maps with a few dives. The corrected maps agree with full surveys in 96% of all cells, and a season's "
    "work shrinks to four days.",
)


class Workplace:
    """A folder with lists, and the index that was built from them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lists = folder / "lists"
        self.index = folder / "index"


def listing(*paragraphs: str, header: str | None = HEADER, newline: str = "\n", blank: str = "") -> str:
    """The text of a list file; `blank` is what stands on its blank lines."""
    parts = [*([header] if header else []), *paragraphs]
    return (newline + blank + newline).join(parts) + newline


def write(path: Path, *paragraphs: str, header: str | None = HEADER) -> Path:
    """Write a list file in UTF-8 and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(listing(*paragraphs, header=header).encode())
    return path


def list_file(data: bytes | str, name: str = "list.txt", fields: Mapping[str, str] | None = None) -> ListFile:
    """A list file in memory."""
    raw = data.encode() if isinstance(data, str) else data
    return ListFile(name, lambda: io.BytesIO(raw), fields)


def read_all(data: bytes | str, name: str = "list.txt", fields: Mapping[str, str] | None = None) -> list[RawRecord]:
    """The records of a list file in memory, read by whichever reader takes it."""
    return list(read_file(list_file(data, name, fields)))


def paragraphs_of(text: str) -> list[RawRecord]:
    """The records that the plain-text reader finds in a text, whatever characters it holds."""
    file = list_file("")
    file.lines = lambda: enumerate(re.split(r"\r\n|\r|\n", text), start=1)  # type: ignore[method-assign]
    return list(plain.read(file))


def contents(folder: Path) -> dict[str, object]:
    """What an index holds, without what may differ between two ways to the same state (rows, generation)."""
    index = Index.open(folder)
    try:
        papers = index.papers()
        stored = index.passages(list(papers))
        passport = index.passport.model_dump(exclude={"generation", "sentence_rows"})
        return {
            "papers": [json.loads(p.model_dump_json()) for p in papers.values()],
            "passages": {i: [s.passage.model_dump() for s in found] for i, found in stored.items()},
            "vectors": {i: [index.sentence_vectors(s).round(2).tolist() for s in found] for i, found in stored.items()},
            "passage_count": index._passages.count(),
            "lexical": index.lexical.ids,
            "passport": passport,
        }
    finally:
        index.close()


def lexical_hits(folder: Path, terms: Sequence[str]) -> set[str]:
    """The ids of the papers that the keyword index finds."""
    index = Index.open(folder)
    try:
        return set(index.lexical.scores(terms))
    finally:
        index.close()
