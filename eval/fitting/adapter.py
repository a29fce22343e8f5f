"""Fit the adapter that reads a question together with a sentence (`rag/adapter.safetensors`).

    python -m eval.fitting.adapter ABSTRACTS.jsonl.gz PASSAGE_QUESTIONS.jsonl.gz [--hold-out 3,7] [--out FILE]

The questions are those of `eval/fitting/evidence.py`, asked of the real retriever; those about the lists held out are
kept for validation, and for the models that weigh the adapter's scores with other signals (they must see scores for
questions that the adapter was not fitted on). A question gives one group of pairs: a sentence that answers it, if any,
and others of the best found that do not. Half of the loss is that of each pair (does it answer), half that of picking
the one that answers from its group.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.fitting.collect import Asked, paper_questions
from rag.encoder import Encoder
from rag.pair_scorer import HEAD, SCALE, Pair, adapted, base, pair, pooled, tokens

RANK = 8
RATE = 1e-3
EPOCHS = 2  # over questions about papers; the passages are read once
PASSAGE_QUESTIONS = 5000
OTHERS = 5  # sentences beside the one that answers
PASSAGE_OTHERS = 2
TOKENS = 3000  # in a step, about


@dataclass
class Group:
    """Pairs of one question; `right` is the number of the one that answers, or None."""

    pairs: list[Pair]
    right: int | None


def paper_groups(asked: list[Asked], rng: random.Random) -> Iterator[Group]:
    """For each question about papers the best found sentences, one of which may be right."""
    for a in asked:
        marked = list(zip(a.scored, a.labels, strict=True))
        right = [s for s, mark in marked if mark]
        wrong = [s for s, mark in marked if not mark]
        near, far = wrong[: 2 * OTHERS], wrong[2 * OTHERS :]
        others = rng.sample(near, min(len(near), OTHERS - 1)) + rng.sample(far, min(len(far), 1))
        if a.answerable and not right:
            continue
        chosen = [rng.choice(right), *others] if right else others
        pairs = [pair(a.question.text, s.hit.paper.label, s.quote) for s in chosen]
        yield Group(pairs, 0 if right else None)


def passage_groups(path: Path, count: int, rng: random.Random) -> Iterator[Group]:
    """The same for public questions about passages, whose article is their name."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if len(row["sentences"]) > 1]
    for row in rng.sample(rows, min(count, len(rows))):
        right = row["labels"]
        wrong = [i for i in range(len(row["sentences"])) if i not in right]
        chosen = ([rng.choice(right)] if right else []) + rng.sample(wrong, min(len(wrong), PASSAGE_OTHERS))
        title = str(row["title"]).replace("_", " ")
        yield Group([pair(row["question"], title, row["sentences"][i]) for i in chosen], 0 if right else None)


def steps(groups: list[Group], tokenizer: Any, rng: random.Random) -> list[list[Group]]:
    """Groups of like length together, in steps of about TOKENS tokens, in random order."""
    lengths = [max(len(x) for x in tokenizer([f"{q} {s}" for q, s in g.pairs])["input_ids"]) for g in groups]
    result: list[list[Group]] = []
    room = 0
    for i in sorted(range(len(groups)), key=lambda i: lengths[i] + rng.random() * 8):
        size = lengths[i] * len(groups[i].pairs)
        if not result or size > room:
            result.append([])
            room = TOKENS
        result[-1].append(groups[i])
        room -= size
    rng.shuffle(result)
    return result


def with_adapter(model: Any) -> dict[str, Any]:
    """Freeze a transformer and put trainable matrices beside its linear layers; returns them by name."""
    import torch

    model.requires_grad_(False)
    trained: dict[str, Any] = {}
    for name, module in adapted(model).items():
        down = torch.nn.Parameter(torch.randn(RANK, module.in_features) / module.in_features**0.5)
        up = torch.nn.Parameter(torch.zeros(module.out_features, RANK))
        trained[f"{name}.down"], trained[f"{name}.up"] = down, up

        def beside(_: Any, inputs: Any, output: Any, down: Any = down, up: Any = up) -> Any:
            return output + SCALE * (inputs[0] @ down.T @ up.T)

        module.register_forward_hook(beside)
    return trained


def loss_of(logits: Any, step: list[Group]) -> Any:
    """The mean of the pairs' loss and, where a group has a right one, of the choice among its pairs."""
    import torch
    from torch.nn import functional

    total, begin = torch.zeros(()), 0
    for group in step:
        own = logits[begin : begin + len(group.pairs)]
        begin += len(group.pairs)
        truth = torch.zeros(len(own))
        if group.right is not None:
            truth[group.right] = 1.0
            total = total + functional.cross_entropy(own, torch.tensor(group.right))
        total = total + functional.binary_cross_entropy_with_logits(own, truth) * 2
    return total / len(step)


def fit(plan: list[list[Group]], seed: int, out: Path) -> None:
    """Train, telling how far it is; what there is by then is saved now and again."""
    import torch

    torch.manual_seed(seed)
    tokenizer, model = base()
    trained = with_adapter(model)
    head = torch.nn.Linear(model.config.hidden_size, 1)
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.constant_(head.bias, -1.5)  # one pair in five answers
    parameters = [*trained.values(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=len(plan), pct_start=0.08)
    model.train()
    started, recent = time.monotonic(), []
    for number, step in enumerate(plan, 1):
        logits = head(pooled(model, tokens(tokenizer, [p for g in step for p in g.pairs]))).squeeze(-1)
        loss = loss_of(logits, step)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        recent.append(float(loss.detach()))
        if number % 50 == 0 or number == len(plan):
            minutes = (time.monotonic() - started) / 60
            print(f"step {number} of {len(plan)}, {minutes:.1f} min, loss {np.mean(recent[-50:]):.4f}", flush=True)
            save(trained, head, out)


def save(trained: dict[str, Any], head: Any, out: Path) -> None:
    """Write the adapter as float16."""
    from safetensors.torch import save_file

    weights = {**trained, **{f"{HEAD}.{name}": value for name, value in head.state_dict().items()}}
    save_file({name: value.detach().half().contiguous() for name, value in weights.items()}, out)


def main() -> None:
    """Ask, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("abstracts", type=Path)
    parser.add_argument("passage_questions", type=Path)
    parser.add_argument("--hold-out", default="3,7", help="lists that are kept for validation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("rag/adapter.safetensors"))
    args = parser.parse_args()
    rng = random.Random(args.seed)
    held = {f"list {number}" for number in args.hold_out.split(",")}
    here = Path(__file__).parent
    encoder = Encoder()
    files = [here / name for name in ("questions.jsonl", "questions_more.jsonl")]
    asked = [a for a in paper_questions(files, args.abstracts, encoder) if a.group not in held]
    tokenizer, _ = base()
    plan: list[list[Group]] = []
    for _ in range(EPOCHS):
        passages = passage_groups(args.passage_questions, PASSAGE_QUESTIONS // EPOCHS, rng)
        plan += steps([*paper_groups(asked, rng), *passages], tokenizer, rng)
    print(f"{sum(map(len, plan))} groups, {len(plan)} steps", flush=True)
    fit(plan, args.seed, args.out)


if __name__ == "__main__":
    main()
