"""Where the records of a JSON text are: one object after the other, in a list, or as the members of an object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ingest.readers import by_names

DEEPEST = 4  # objects around a list of records
TOO_DEEP = 1000
SEEN = 3  # elements of a list, or members of an object, that are looked at
TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"\s*+(:?)|[{}\[\]]|"', re.DOTALL)
NEXT_OBJECT = re.compile(r"[^\s\[,:]\s*\n\{")  # JSON Lines: the next line begins an object
# Objects around a single record: OpenReview's notes, DOAJ, Elasticsearch, DataCite, Crossref's and Zotero's answers.
ENVELOPES = ("content", "bibjson", "_source", "attributes", "paper", "message", "data", "record", "article", "metadata")


@dataclass(frozen=True)
class Layout:
    """`sequence`: objects at the top; `list`: elements of the list at `path`; `members`: those of the object there."""

    kind: Literal["sequence", "list", "members"]
    path: tuple[str, ...] = ()


@dataclass
class _Node:
    """An object or list without its texts: the names in it, or its first elements."""

    bracket: str
    members: dict[str, _Node | None] = field(default_factory=dict)
    items: list[_Node] = field(default_factory=list)


def layout(head: str, fields: Mapping[str, str]) -> Layout:
    """Tell from the beginning of a text where its records are. Malformed text is looked at as far as it makes sense."""
    begin = re.search(r"^[ \t]*([\[{])", head, re.MULTILINE)
    if begin is None or begin[1] == "{":
        return _around(_skeleton(head, begin.start(1)), fields) if begin else Layout("sequence")
    return Layout("list")


def _around(root: _Node, fields: Mapping[str, str]) -> Layout:
    if _is_paper(root, fields):
        return Layout("sequence")
    lists = list(_lists(root, (), fields))
    for path, node in lists:
        if any(_is_paper(item, fields) for item in node.items):
            return Layout("list", path)
    objects = [((), root), *_objects(root, (), fields)]
    for path, node in objects:
        if _holds_papers(node, fields):
            return Layout("members", path)
    if _is_record(root):
        return Layout("sequence")
    for path, node in objects:
        if _members_alike(node):
            return Layout("members", path)
    return Layout("list", lists[0][0]) if lists else Layout("sequence")


def _is_paper(node: _Node | None, fields: Mapping[str, str]) -> bool:
    """Whether an object, or the one in its envelope, has an abstract."""
    if node is None or node.bracket != "{":
        return False
    return _names_abstract(node, fields) or any(
        _names_abstract(inner, fields) for name in ENVELOPES if (inner := node.members.get(name)) and inner.members
    )


def _names_abstract(node: _Node, fields: Mapping[str, str]) -> bool:
    names = {by_names.normal(name) for name in node.members}
    if "abstract" in fields:
        return by_names.normal(fields["abstract"].split(".")[0]) in names
    known = {*by_names.NAMES["abstract"], "abstractinvertedindex"}
    return not names.isdisjoint(known) or names >= {"title", "text"} or names >= {"title", "summary"}


def _is_record(node: _Node) -> bool:
    """Whether an object describes one paper, if without its abstract."""
    names = {by_names.normal(name) for name in node.members}
    titled = not names.isdisjoint(set(by_names.NAMES["title"]) - {"name", "displayname"})
    return titled and any(not names.isdisjoint(by_names.NAMES[field]) for field in ("authors", "doi", "year", "venue"))


def _lists(node: _Node, path: tuple[str, ...], fields: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], _Node]]:
    """Lists of objects, in order, not those inside a paper."""
    for name, inner in node.members.items():
        if inner is None:
            continue
        if inner.bracket == "[" and any(item.bracket == "{" for item in inner.items):
            yield (*path, name), inner
        elif inner.bracket == "{" and len(path) + 1 < DEEPEST and not _is_paper(inner, fields):
            yield from _lists(inner, (*path, name), fields)


def _objects(node: _Node, path: tuple[str, ...], fields: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], _Node]]:
    for name, inner in node.members.items():
        if inner and inner.bracket == "{" and len(path) + 1 < DEEPEST and not _is_paper(inner, fields):
            yield (*path, name), inner
            yield from _objects(inner, (*path, name), fields)


def _holds_papers(node: _Node, fields: Mapping[str, str]) -> bool:
    """Whether the members of an object are mostly papers."""
    first = [member for member in node.members.values() if member][:SEEN]
    return bool(first) and sum(_is_paper(member, fields) for member in first) * 2 > len(first)


def _members_alike(node: _Node) -> bool:
    """Whether all members of an object are objects with the same names in them."""
    first = list(node.members.values())
    return len(first) > 1 and all(
        member is not None
        and first[0] is not None
        and len(first[0].members.keys() & member.members.keys()) * 2 > len(member.members) > 0
        for member in first
    )


def _skeleton(head: str, begin: int) -> _Node:
    """The first object of a text, without what lies deep in it, up to where the text or the object ends."""
    next_object = NEXT_OBJECT.search(head, begin)
    root, deep = _Node("{"), _Node("")
    stack, name = [root], ""
    for token in TOKEN.finditer(head, begin + 1, next_object.end() - 1 if next_object else len(head)):
        here = stack[-1]
        bracket = token[0]
        if bracket in "{[" and len(stack) < TOO_DEEP:
            kept = len(stack) <= DEEPEST + 2 and here.bracket
            node = _Node(bracket) if kept else deep
            if here.bracket == "{" and kept and name:
                here.members[name] = node
            elif here.bracket == "[" and kept and len(here.items) < SEEN:
                here.items.append(node)
            stack.append(node)
        elif bracket in "}]":
            stack.pop()
            if not stack:
                break
        elif bracket in '"{[':  # a string without end, or deeper than any record
            break
        elif token[2] and here.bracket == "{":
            name = token[1]
            here.members.setdefault(name, None)
            continue
        name = ""
    return root
