"""What a run will do with every record, decided before anything is encoded or written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ingest import identity
from ingest.findings import find
from ingest.gather import Item
from ingest.known import Known, Target
from ingest.merge import Merger
from rag.schema import IngestReport, Paper

PAGE = 500  # papers that are looked at together


@dataclass
class Plan:
    """Papers to encode (new ones, and those with another text or title), to change otherwise, and to remove (ids)."""

    report: IngestReport
    encode: list[Target] = field(default_factory=list)
    update: list[Target] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    written: int = 0  # papers of `encode` that are in the index already


def assign(items: Sequence[Item], known: Known, papers: Callable[[], Iterable[Paper]], report: IngestReport) -> None:
    """Give every record to its paper: the one with its words, with its id, with nearly its words, or a new one.

    `papers` streams the papers of the index once more; it is called only if some text is new.
    """
    if known.targets and any(known.with_same_text(item) is None for item in items):
        known.learn_sketches(papers())
    known.meet(items)
    for item in items:
        found = known.with_same_text(item)
        conflict = ""
        if found is None:
            found, conflict = known.with_same_key(item)
        if found is None:
            found = known.nearly_the_same(item)
        if conflict:
            other = conflict.replace(":", " ", 1)
            find(
                report.conflicts, item.file, item, f"another paper with other words has the {other} too; both were kept"
            )
        if found is None:
            found = _new(item, known)
            known.add(found)
        else:
            _join(item, found, report)
            known.learn_keys(found, item.keys)
        found.members.append(item)
    known.forget_sketches()


def _new(item: Item, known: Known) -> Target:
    by_title = identity.content_key([item.content, item.title])  # the same words under two titles, say an erratum's
    choices = [*map(identity.id_of, item.keys), "c" + item.content, "c" + by_title]
    own = next(choice for choice in choices if choice not in known.by_id)
    return Target(own, item.content, item.keys, item.title, item.version, sketch=item.sketch)


def _join(item: Item, target: Target, report: IngestReport) -> None:
    """Another record of a paper: note whether its text is newer than what the paper has."""
    digests = {digest for file, digest in target.sources if file == item.file}
    known_here = item.content in digests
    if not known_here and (target.members or not digests):
        version = "the same words" if item.content == target.content else "another version"
        find(report.duplicates, item.file, item, f"{version} of a paper that {_whose(target)} holds")
    if item.content == target.content:
        return
    edited = bool(digests) and not known_here and item.version == target.version
    if item.version > target.version or edited:
        target.content, target.version = item.content, item.version
        target.leads.append(item)


def _whose(target: Target) -> str:
    if target.members:
        first = target.members[0]
        return f"{first.file}, record {first.position}"
    return target.sources[0][0] if target.sources else "the index"


def make_plan(known: Known, merger: Merger, report: IngestReport, *, prune: bool = False) -> Plan:
    """Decide what happens to each paper, and count every record once.

    With `prune`, papers lose the sources that no longer hold them; those without any are removed.
    """
    plan = Plan(report)
    plan.encode = [target for target in known.targets if target.members and not target.in_index]
    for target in plan.encode:
        _count(target, "added", report)
    met = [target for target in known.targets if target.members and target.in_index]
    for begin in range(0, len(met), PAGE):
        for target, old, new in merger.merged(met[begin : begin + PAGE]):
            assert old is not None
            changed = old.model_copy(update={"sources": new.sources}) != new
            _count(target, "updated" if changed else _as_before(target), report)
            if (old.abstract, old.title) != (new.abstract, new.title):
                plan.encode.append(target)
            elif old != new:
                plan.update.append(target)
    for target in known.targets:
        if target.kept and not target.members:
            report.unchanged += 1
            report.duplicate += target.kept - 1
    for target in known.targets if prune else ():
        gone = None if target.members else merger.gone(target)
        if gone:
            plan.remove.append(target.id)
        elif gone is False:
            plan.update.append(target)
    report.removed = len(plan.remove)
    return plan


def _as_before(target: Target) -> str:
    known_file = {file for file, _ in target.sources} & {item.file for item in target.members}
    return "unchanged" if target.kept or known_file else "duplicate"


def _count(target: Target, outcome: str, report: IngestReport) -> None:
    """One record stands for what happens to the paper; the others are newer versions of it, or duplicates."""
    newer = len(target.leads) - (outcome == "updated" and bool(target.leads))
    others = len(target.members) + target.kept - 1 - newer
    for name, count in ((outcome, 1), ("updated", newer), ("duplicate", others)):
        setattr(report, name, getattr(report, name) + count)
