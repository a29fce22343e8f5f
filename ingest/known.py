"""What a run knows of the papers it meets: those of the index, and those it has found so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest import identity
from ingest.gather import Item
from ingest.likeness import NOTHING, Lookup, Sketch, jaccard, sketch
from rag.schema import Paper

ALIKE = 0.6  # Jaccard index of four-word shingles from which two texts are versions of one
ALIKE_IN_DOUBT = 0.8  # the same, for texts under two titles and for short ones
ALIKE_BESIDE = 0.98  # the same, for texts under two titles in one file, whose maker held them for two papers
EDITED = 0.4  # the same, where the other text stood in this file and stands there no more
SHORT = 32  # shingles
RELATED = 0.05  # under one DOI or arXiv id and other titles, less than this means two different papers


@dataclass(slots=True)
class Target:
    """A paper of the index or of this run. `leads` are the members whose text replaces what was there."""

    id: str
    content: str
    keys: tuple[str, ...]
    title: str
    version: int
    sources: tuple[tuple[str, str], ...] = ()  # (file, digest) as the index knows them
    in_index: bool = False
    sketch: Sketch | None = None
    members: list[Item] = field(default_factory=list)
    leads: list[Item] = field(default_factory=list)
    kept: int = 0  # sources in files that were not read again, because they have not changed


def target_of(paper: Paper) -> Target:
    """A paper of the index. Its first source supplies its text."""
    digest = paper.sources[0].digest if paper.sources else ""
    return Target(
        id=paper.id,
        content=digest or identity.content_key(identity.words(paper.abstract)),
        keys=identity.strong_keys(paper),
        title=" ".join(identity.words(paper.title or "")),
        version=identity.arxiv_version(paper.arxiv_id),
        sources=tuple((s.file, s.digest) for s in paper.sources),
        in_index=True,
    )


class Known:
    """All papers by id, by text and by key. The first to have a text or a key keeps it."""

    def __init__(self, papers: Iterable[Paper] = ()) -> None:
        self.targets: list[Target] = []
        self.by_id: dict[str, Target] = {}
        self._by_content: dict[str, Target] = {}
        self._by_key: dict[str, Target] = {}
        self._lookup = Lookup()
        self.labels: set[str] = set()
        self._current: set[str] = set()  # the texts of this run
        for paper in papers:
            self.labels.add(paper.label.casefold())
            self.add(target_of(paper))

    def source_counts(self) -> Counter[str]:
        """How many sources the index has in each file."""
        return Counter(file for target in self.targets for file, _ in target.sources)

    def keep(self, familiar: set[str]) -> None:
        """Count the sources in files that were not read again."""
        for target in self.targets if familiar else ():
            target.kept = sum(file in familiar for file, _ in target.sources)

    def meet(self, items: Iterable[Item]) -> None:
        """Take notice of all texts of a run: those of the index that its files hold no more may have been edited."""
        self._current.update(item.content for item in items)

    def add(self, target: Target) -> None:
        """Remember a paper."""
        self.by_id[target.id] = target
        self._by_content.setdefault(target.content, target)
        self.learn_keys(target, target.keys)
        if target.sketch is not None:
            self._lookup.add(len(self.targets), target.sketch)
        self.targets.append(target)

    def learn_keys(self, target: Target, keys: Iterable[str]) -> None:
        """Let a paper be found under more keys."""
        for key in keys:
            self._by_key.setdefault(key, target)

    def learn_sketches(self, papers: Iterable[Paper]) -> None:
        """Make the papers of the index comparable; only a run with texts that they do not hold needs it."""
        numbers = {target.id: number for number, target in enumerate(self.targets)}
        for paper in papers:
            number = numbers[paper.id]
            self.targets[number].sketch = made = sketch(identity.words(paper.abstract))
            self._lookup.add(number, made)

    def forget_sketches(self) -> None:
        """Give the memory back once every record has its paper."""
        self._lookup = Lookup()
        for target in self.targets:
            target.sketch = None
            for item in target.members:
                item.sketch = NOTHING

    def with_same_text(self, item: Item) -> Target | None:
        """The paper with the very words of this record, unless their titles and ids say that they are two."""
        found = self._by_content.get(item.content)
        if found is None or (_other_ids(item, found) and item.title and found.title and item.title != found.title):
            return None
        return found

    def with_same_key(self, item: Item) -> tuple[Target | None, str]:
        """The paper with an id of this record, and the id that an unrelated paper holds already (or ``)."""
        conflict = ""
        for key in item.keys:
            found = self._by_key.get(key)
            if found is None:
                continue
            same_title = bool(item.title) and item.title == found.title
            if same_title or found.sketch is None or jaccard(item.sketch, found.sketch) >= RELATED:
                return found, ""
            conflict = key
        return None, conflict

    def nearly_the_same(self, item: Item) -> Target | None:
        """The paper whose text is most like this record's, if it is a version of it."""
        best, most = None, 0.0
        for number in self._lookup.candidates(item.sketch):
            found = self.targets[number]
            assert found.sketch is not None
            alike = jaccard(item.sketch, found.sketch)
            titled = bool(item.title and found.title)
            if _other_ids(item, found) and not (titled and item.title == found.title):
                continue
            here = item.file in {file for file, _ in found.sources}
            edited = found.content not in self._current and here
            other_title = titled and item.title != found.title
            if edited and not other_title:
                enough = EDITED
            elif other_title and not edited and (here or any(m.file == item.file for m in found.members)):
                enough = ALIKE_BESIDE
            else:
                enough = ALIKE_IN_DOUBT if other_title or len(item.sketch) < SHORT else ALIKE
            if alike >= enough and alike > most:
                best, most = found, alike
        return best


def _other_ids(item: Item, target: Target) -> bool:
    """Whether both have an id of one kind, and not the same."""
    kinds = {key.split(":", 1)[0]: key for key in target.keys}
    return any(kinds.get(key.split(":", 1)[0], key) != key for key in item.keys)
