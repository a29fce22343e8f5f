"""Grounding: invented papers, true paraphrases and false variants, figures, names, negation."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.encoder import Encoder, Vector
from rag.evidence import ScoredSentence
from rag.figures import figures, missing_figures
from rag.grounding import Grounding
from rag.names import strange_names
from rag.opposition import opposed
from rag.retriever import PaperHit
from rag.schema import Paper, Verdict
from rag.sentences import sentence_spans

# -- invented papers ---------------------------------------------------------------------------------------------------

PAPERS = {
    "kelpnet": (
        "KelpNet",
        "Underwater cameras record kelp forests around the clock, yet labels for their footage are scarce. "
        "KelpNet segments kelp in low-light video without requiring any task-specific tuning. "
        "It is trained on 4,000+ clips from 12 Norwegian fjords and reaches an F1 of 0.96, against 0.83 for SeaFormer. "
        "Training from scratch does not work at all, whereas a pretrained backbone converges within two hours. "
        "On the hardest split, pass@1 rises from 41\\% to 55\\%. "
        "Code is released at https://github.com/fjordlab/kelpnet.",
    ),
    "brass": (
        "BRASS",
        "Auction platforms set reserve prices from noisy bids. "
        "BRASS estimates reserve prices with a Bayesian bandit that needs no historical bids. "
        "In simulations with 50,000 bidders, BRASS raises revenue by 8.27 % and lowers regret compared with EpsilonGreedy. "
        "Gains vanish when bidders collude, and the method is slower than fixed pricing. "
        "We prove a regret bound of $O(\\sqrt{T})$ that holds for any number of items.",
    ),
    "turbot": (
        "TurboTokens",
        "Long prompts make language models expensive to serve. "
        "TurboTokens drops redundant tokens before attention, which reduces latency by 37% on GPT-4o prompts. "
        "Accuracy decreases only on arithmetic tasks, where removing digits harms the reasoning. "
        "Unlike earlier pruning schemes, the scores stay unbiased when prompts are shuffled. "
        "Memory falls from 50GB to 18GB, and throughput triples on three of five benchmarks.",
    ),
    "glacier": (
        "GlacierBench",
        "Forecasts of glacier melt are rarely compared under one protocol. "
        "GlacierBench collects 121 glaciers, 12K satellite images, and daily temperatures between 1998 and 2024. "
        "Linear regression matches transformer models on small glaciers, while transformers win on large ones. "
        "No model predicts sudden calving events reliably. "
        "Annotators agreed on 0.791 and 0.874 of the cases in the two rounds.",
    ),
    "mothra": (
        "MothRA",
        "Moth counts decline across Europe, but acoustic monitoring of moths is young. "
        "MothRA detects moths from ultrasonic recordings with a two-stage convolutional network. "
        "The first stage rejects bat calls, and the second stage classifies nine moth families. "
        "Recordings from urban parks remain difficult because traffic noise masks the signals. "
        "Compared with manual trapping, MothRA finds more species at a lower cost.",
    ),
    "river": (
        "RiverGNN",
        "We present RiverGNN, a graph network that transfers discharge patterns from gauged to ungauged catchments. "
        "The advantage disappears in arid regions, where rainfall records are short. "
        "Unlike physical simulators, RiverGNN needs no soil maps at test time. "
        "A 3-day forecast takes less than two seconds on a laptop.",
    ),
    "mender": (
        "CodeMender-S",
        "It fixes 312 of 835 bugs in Defects4J and 48% of the bugs in BugsPy, five points more than AlphaFix. "
        "Filtering removes most plausible but wrong patches at the price of doubling the running time. "
        "Lawyers in a blind study preferred its answers over those of GPT-4o in 71 of 100 cases. "
        "We release prompts but not the fine-tuned weights.",
    ),
    "hints": (
        "Adaptive hints",
        "In a randomized trial with 3,208 pupils, adaptive hints raised test scores by 0.21 standard deviations, "
        "whereas fixed hints had no effect. Larger groups do not improve attention. "
        "Longer hints reduce error rates up to 16K units and increase them beyond.",
    ),
}

TRUE = (
    "KelpNet segments kelp in low-light video.",
    "KelpNet segments kelp in video recorded in low light, with no task-specific tuning required.",
    "KelpNet reaches an F1 of 0.96.",
    "KelpNet was trained on more than 4000 clips from twelve Norwegian fjords.",
    "SeaFormer reaches an F1 of 0.83, below the 0.96 of KelpNet.",
    "A pretrained backbone converges within 2 hours, but training from scratch does not work.",
    "On the hardest split, pass@1 increases from 41% to 55%.",
    "The code of KelpNet is available at https://github.com/fjordlab/kelpnet.",
    "Labels for underwater footage of kelp forests are scarce.",
    "BRASS uses a Bayesian bandit to estimate reserve prices.",
    "BRASS requires no historical bids.",
    "BRASS increases revenue by 8.27% in simulations with 50K bidders.",
    "Compared with EpsilonGreedy, BRASS has lower regret and higher revenue.",
    "When bidders collude, the gains disappear.",
    "The regret bound is $O(\\sqrt{T})$ for any number of items.",
    "TurboTokens removes redundant tokens before attention.",
    "TurboTokens reduces latency by 37% on GPT-4o prompts.",
    "Accuracy drops only on arithmetic tasks.",
    "The scores remain unbiased when prompts are shuffled.",
    "Memory is reduced from 50 GB to 18 GB.",
    "Throughput triples on three of the five benchmarks.",
    "GlacierBench contains 121 glaciers and 12,000 satellite images.",
    "GlacierBench covers daily temperatures between 1998 and 2024.",
    "On small glaciers, linear regression is as good as transformer models.",
    "Sudden calving events are not predicted reliably by any model.",
    "The annotators agreed on 0.791 and 0.874 of the cases.",
    "MothRA is a two-stage convolutional network that detects moths in ultrasonic recordings.",
    "The first stage of MothRA rejects bat calls.",
    "Traffic noise masks the signals in urban parks, so those recordings remain difficult.",
    "MothRA finds more species than manual trapping, and it costs less.",
    "The second stage sorts moths into 9 families.",
    "Acoustic monitoring of moths is a young field.",
    # two sentences in one, other word order, double negation, pronouns
    "RiverGNN transfers discharge patterns from gauged catchments to ungauged ones.",
    "In arid regions, RiverGNN has no advantage because rainfall records are short.",
    "RiverGNN does not need soil maps at test time.",
    "CodeMender-S fixes 312 of the 835 bugs in Defects4J.",
    "Filtering doubles the running time but removes most plausible but wrong patches.",
    "The authors release the prompts but not the fine-tuned weights.",
    "Adaptive hints increased test scores by 0.21 standard deviations.",
    "Fixed hints had no effect.",
    "Larger groups bring no improvement in attention.",
    "Beyond 16K units, longer hints increase error rates.",
)

FALSE = (
    # figures
    "KelpNet reaches an F1 of 0.98.",
    "KelpNet was trained on more than 4,500 clips from twelve Norwegian fjords.",
    "BRASS raises revenue by 82.7% in simulations with 50,000 bidders.",
    "GlacierBench collects 121 glaciers and 12 satellite images.",
    "The second stage classifies seven moth families.",
    "Memory falls from 50MB to 18MB.",
    "Daily temperatures between 1989 and 2024 are collected.",
    # names
    "On the hardest split, pass@5 rises from 41% to 55%.",
    "TurboTokens reduces latency by 37% on GPT-4 prompts.",
    "SealNet segments kelp in low-light video without requiring any task-specific tuning.",
    "BRASS lowers regret compared with ThompsonSampling.",
    "KelpNet is trained on clips from 12 Icelandic fjords.",
    "MothRA collects 121 glaciers and daily temperatures.",
    "The code of KelpNet is available at https://github.com/fjordlab/kelpnet-v2.",
    # negation
    "KelpNet requires task-specific tuning to segment kelp in low-light video.",
    "Training from scratch works well, and so does a pretrained backbone.",
    "BRASS needs historical bids to estimate reserve prices.",
    "Every model predicts sudden calving events reliably.",
    "The scores do not stay unbiased when prompts are shuffled.",
    "The scores become biased when prompts are shuffled.",
    "Gains do not vanish when bidders collude.",
    "MothRA does not detect moths from ultrasonic recordings.",
    # directions and roles
    "TurboTokens increases latency by 37% on GPT-4o prompts.",
    "BRASS lowers revenue by 8.27 % and raises regret compared with EpsilonGreedy.",
    "The method is faster than fixed pricing.",
    "MothRA finds fewer species at a higher cost than manual trapping.",
    "On the hardest split, pass@1 falls from 41% to 55%.",
    "Transformers win on small glaciers, while linear regression matches them on large ones.",
    "SeaFormer outperforms KelpNet with an F1 of 0.96 against 0.83.",
    "Accuracy improves only on arithmetic tasks, where removing digits helps the reasoning.",
    # other words
    "The first stage rejects bird calls, and the second stage classifies nine moth families.",
    "KelpNet segments seagrass in low-light video without requiring any task-specific tuning.",
    "BRASS estimates reserve prices with a neural network that needs no historical bids.",
    "Recordings from urban parks remain difficult because wind noise masks the signals.",
    # who does what
    "RiverGNN transfers discharge patterns from ungauged to gauged catchments.",
    "Physical simulators need no soil maps at test time.",
    "The advantage is largest in arid regions, where rainfall records are short.",
    "A 3-day forecast takes more than two seconds on a laptop.",
    "A 3-day forecast takes less than two ms on a laptop.",
    "CodeMender-S fixes 312 of 835 bugs in BugsPy.",
    "AlphaFix fixes 48% of the bugs in BugsPy.",
    "It fixes 48% of the bugs in BugsPy, five points less than AlphaFix.",
    "Lawyers preferred the answers of GPT-4o over those of CodeMender-S in 71 of 100 cases.",
    "We release fine-tuned weights but not the prompts.",
    "In a randomized trial with 3,208 teachers, adaptive hints raised test scores.",
    "Fixed hints raised test scores by 0.21 standard deviations.",
    "Adaptive hints had no effect.",
    "Longer hints increase error rates up to 16K units and reduce them beyond.",
)


def evidence_of(abstracts: dict[str, tuple[str, str]]) -> list[ScoredSentence]:
    """All sentences of some abstracts, as if each had been found."""
    found = []
    for rank, (key, (label, abstract)) in enumerate(abstracts.items()):
        hit = PaperHit(Paper(id=key, abstract=abstract, label=label), 1.0, 1.0, 1.0, 1.0, [])
        found += [ScoredSentence(hit, rank, start, end, 0.5, ()) for start, end in sentence_spans(abstract)]
    return found


@pytest.fixture(scope="module")
def grounding(encoder: Encoder) -> Grounding:
    return Grounding(encoder, evidence_of(PAPERS))


@pytest.mark.parametrize("sentence", FALSE)
def test_false_variants_are_never_supported(grounding: Grounding, sentence: str) -> None:
    assert grounding.check(sentence).verdict is not Verdict.SUPPORTED


def test_true_paraphrases_are_mostly_carried(grounding: Grounding) -> None:
    verdicts = [grounding.check(s).verdict for s in TRUE]
    assert verdicts.count(Verdict.UNSUPPORTED) <= 0.05 * len(TRUE)
    assert verdicts.count(Verdict.SUPPORTED) >= 0.75 * len(TRUE)


def test_every_quote_supports_itself_and_is_its_own_evidence(grounding: Grounding) -> None:
    for scored in grounding.evidence:
        draft = grounding.check(scored.quote)
        assert draft.verdict is Verdict.SUPPORTED, scored.quote
        assert scored in draft.evidence


def test_a_sentence_put_together_from_two_is_carried_by_both(grounding: Grounding) -> None:
    draft = grounding.check("TurboTokens reduces latency by 37% on GPT-4o prompts, and memory falls from 50GB to 18GB.")
    assert draft.verdict is Verdict.SUPPORTED
    assert [s.quote[:12] for s in draft.evidence] == ["TurboTokens ", "Memory falls"]
    assert len({s.hit.paper.id for s in draft.evidence}) == 1


def test_unsupported_sentences_have_no_evidence_and_no_evidence_supports_nothing(grounding: Grounding) -> None:
    assert grounding.check("Paris hosts the largest zoo of the world.").evidence == ()
    assert Grounding(grounding.encoder, []).check("KelpNet segments kelp.").verdict is Verdict.UNSUPPORTED


# -- figures -----------------------------------------------------------------------------------------------------------

FIGURES: tuple[tuple[str, set[str]], ...] = (
    ("4,000+ models", {"4000"}),
    ("80\\% of items", {"80%"}),
    ("$\\approx9\\%$ of variance", {"9%"}),
    ("12K instances", {"12000"}),
    ("1.5 million images and 7B parameters", {"1500000", "7000000000"}),
    ("a rise of 8.27 %", {"8.27%"}),
    ("8.27 per cent, or 9 percentage points", {"8.27%", "9%"}),
    ("an F1 of 0.96", {"0.96"}),
    ("0.791 and 0.874", {"0.791", "0.874"}),
    ("5-20 tasks, 5–20 tasks", {"5", "20"}),
    ("two to twelve, and twenty-five", {"2", "12", "25"}),
    ("twice as fast; throughput triples", {"2", "3"}),
    ("one of the first", set()),
    ("$50GB of memory", {"50gb"}),
    ("50 GB and 18 ms", {"50gb", "18ms"}),
    ("between May and August 2025", {"2025"}),
    ("0.50 and .5 and 5.0", {"0.5", "5"}),
    ("GPT-4o, L²M, pass@5, F1, Qwen3 and top-5", set()),
    ("at $R_g=0.97$", {"0.97"}),
    ("CC-BY 4.0 and version 2.10.3", {"4", "2.10.3"}),
    ("https://example.org/2024/7 holds 3 files", {"3"}),
    ("达到97%的准确率，12K条", {"97%", "12000"}),
    ("3D scenes, the 2nd of 10x", {"3", "2", "10"}),
    ("120,000+ tasks, 1,2 and 3", {"120000", "1", "2", "3"}),
)


@pytest.mark.parametrize(("text", "expected"), FIGURES)
def test_figures(text: str, expected: set[str]) -> None:
    assert figures(text) == expected


MISSING: tuple[tuple[str, str, set[str]], ...] = (
    ("4000 models", "4,000+ models", set()),
    ("80% of items", "80\\% of items", set()),
    ("an accuracy of 93.4", "an accuracy of 93.4%", set()),
    ("an accuracy of 93.4%", "an accuracy of 93.4", {"93.4%"}),
    ("12,000 pairs", "12K pairs", set()),
    ("12 pairs", "12K pairs", {"12"}),
    ("one model of 8B parameters", "OpenForecaster-8B is on par", set()),
    ("8 datasets", "OpenForecaster-8B is on par", {"8"}),
    ("1 stage", "one stage", set()),
    ("50 MB", "50GB", {"50mb"}),
    ("7 datasets", "seven new datasets", set()),
    ("seven datasets", "7 new datasets", set()),
    ("200 tasks", "hundreds of tasks", {"200"}),
)


@pytest.mark.parametrize(("sentence", "evidence", "missing"), MISSING)
def test_missing_figures(sentence: str, evidence: str, missing: set[str]) -> None:
    assert missing_figures(sentence, evidence) == missing


# -- names -------------------------------------------------------------------------------------------------------------

NAMED = Paper(
    id="n",
    label="TabICLv2",
    abstract="Tables are everywhere. TabICLv2 surpasses RealTabPFN-2.5 on TALENT with large language models, GPT-4o and "
    "SWE-bench. The earlier FLIP benchmark was small; FLIP2 spans seven datasets. Reinforcement learning from human "
    "feedback reaches pass@1 of 40. L²M theory is confirmed. Code: https://github.com/soda/tabicl.",
    authors=["Ada Doe"],
)
NAMES: tuple[tuple[str, str, set[str]], ...] = (
    ("TabICLv2 is faster.", "It surpasses RealTabPFN-2.5 on TALENT.", set()),
    ("TabICL is faster.", "It surpasses RealTabPFN-2.5 on TALENT.", {"tabicl"}),
    ("It surpasses RealTabPFN-2.", "It surpasses RealTabPFN-2.5 on TALENT.", {"realtabpfn2"}),
    ("It is evaluated on ImageNet.", "It is evaluated on TALENT.", {"imagenet"}),
    ("pass@5 is 40.", "It reaches pass@1 of 40.", {"pass5"}),
    ("pass@1 is 40.", "It reaches pass@1 of 40.", set()),
    ("FLIP2 was small.", "The earlier FLIP benchmark was small.", {"flip2"}),
    ("GPT-4 is used.", "GPT-4o is used.", {"gpt4"}),
    ("Code is on GitHub.", "Code: https://github.com/soda/tabicl.", set()),
    ("SWE-Bench is used.", "SWE-bench is used.", set()),
    ("LLMs and RLHF are used.", "Large language models are used.", set()),
    ("L2M theory is confirmed.", "L²M theory is confirmed.", set()),
    ("Doe surpasses it.", "It surpasses RealTabPFN-2.5.", set()),
    ("It was written by Roe.", "It surpasses RealTabPFN-2.5.", {"roe"}),
    ("However, Large Tables are everywhere.", "Tables are everywhere.", set()),
    ("Code: https://github.com/soda/tabicl.", "Code: https://github.com/soda/tabicl.", set()),
    ("Code: https://github.com/soda/tabpfn", "Code: https://github.com/soda/tabicl.", {"https://github.com/soda/tabpfn"}),
    ("AI is used.", "Tables are everywhere.", set()),
    ("TALENT-based tests", "It surpasses RealTabPFN-2.5 on TALENT.", set()),
)  # fmt: skip


@pytest.mark.parametrize(("sentence", "evidence", "strange"), NAMES)
def test_strange_names(sentence: str, evidence: str, strange: set[str]) -> None:
    assert strange_names(sentence, evidence, NAMED) == strange


# -- the opposite ------------------------------------------------------------------------------------------------------

OPPOSED = (
    ("It needs labels.", "It needs no labels."),
    ("It needs no labels.", "It needs labels."),
    ("It needs task-specific tuning.", "It segments kelp without requiring any task-specific tuning."),
    ("The estimates are biased.", "The estimates stay unbiased."),
    ("Dropout improves accuracy.", "Dropout degrades accuracy."),
    ("Latency increases by 5%.", "Latency drops by 5%."),
    ("It lowers revenue and raises regret.", "It raises revenue and lowers regret."),
    ("BERT outperforms T5.", "T5 outperforms BERT."),
    ("BERT is outperformed by T5.", "BERT outperforms T5."),
    ("Pruning is faster than distillation.", "Pruning is slower than distillation."),
    ("The method improves recall and reduces memory.", "The method improves recall but does not reduce memory."),
    ("Search helps reasoning.", "We ask whether search helps reasoning."),
    ("Gains do not vanish.", "Gains vanish when bidders collude."),
    ("Failures rise from 6% to 18%.", "It brings failures from 18% to 6%."),
)
NOT_OPPOSED = (
    ("KelpNet segments kelp in video.", "KelpNet segments kelp in video without requiring any task-specific tuning."),
    ("It requires no tuning.", "It works without requiring any tuning."),
    ("It is training-free.", "It needs no training."),
    ("The method improves recall.", "The method improves recall but does not reduce memory."),
    ("It runs fast.", "It does not need labels and runs fast."),
    ("Estimates are not biased.", "Estimates stay unbiased."),
    ("It improves accuracy and speed.", "Not only accuracy but also speed improves."),
    ("It reduces latency.", "It improves latency."),
    ("Accuracy rises.", "Errors fall while accuracy grows."),
    ("Experts annotated the cases.", "The cases were annotated by experts, not by crowds."),
    ("BERT outperforms T5.", "T5 is outperformed by BERT."),
    ("The authors inform users.", "The form is shown to users."),
    ("Distillation can first help generalization.", "Distillation may first help and later harm generalization."),
    ("Training from scratch fails.", "Training from scratch does not work at all."),
)


@pytest.mark.parametrize(("sentence", "evidence"), OPPOSED)
def test_opposed(sentence: str, evidence: str) -> None:
    assert opposed(sentence, evidence)


@pytest.mark.parametrize(("sentence", "evidence"), NOT_OPPOSED)
def test_not_opposed(sentence: str, evidence: str) -> None:
    assert not opposed(sentence, evidence)


# -- properties --------------------------------------------------------------------------------------------------------


class WordCounts:
    """A stand-in for the encoder: texts with the same words are near."""

    def encode_queries(self, texts: list[str]) -> Vector:
        rows = np.full((len(texts), 512), 1e-6, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().split():
                row[sum(map(ord, word)) % 512] += 1.0
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


WORDS = st.sampled_from("the model reaches an accuracy of on tasks and with data than fewer images in tests".split())
NUMBERS = st.integers(2, 9999).map(str) | st.decimals(0, 99, places=2).map(str)
SENTENCES = st.lists(WORDS | NUMBERS, min_size=4, max_size=14).map(lambda words: "So " + " ".join(words) + ".")


@given(st.lists(SENTENCES, min_size=1, max_size=5), SENTENCES)
@settings(max_examples=150, deadline=None)
def test_each_figure_of_a_kept_sentence_stands_in_its_evidence(abstract: list[str], sentence: str) -> None:
    check_figures(abstract, sentence)


@given(st.lists(SENTENCES, min_size=1, max_size=5), st.data())
@settings(max_examples=150, deadline=None)
def test_each_figure_of_a_changed_copy_stands_in_its_evidence(abstract: list[str], data: st.DataObject) -> None:
    words = data.draw(st.sampled_from(abstract)).rstrip(".").split()
    words[data.draw(st.integers(0, len(words) - 1))] = data.draw(NUMBERS)
    check_figures(abstract, " ".join(words) + ".")


def check_figures(abstract: list[str], sentence: str) -> None:
    grounding = Grounding(WordCounts(), evidence_of({"p": ("Label", " ".join(abstract))}))  # type: ignore[arg-type]
    draft = grounding.check(sentence)
    if draft.verdict is Verdict.UNSUPPORTED:
        assert draft.evidence == ()
        return
    shown = {float(n) for s in draft.evidence for n in re.findall(r"\d+(?:\.\d+)?", s.quote)}
    assert {float(n) for n in re.findall(r"\d+(?:\.\d+)?", sentence)} <= shown


@given(st.text(max_size=300), st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read(sentence: str, evidence: str) -> None:
    assert missing_figures(sentence, sentence) == set()
    assert isinstance(opposed(sentence, evidence), bool)
    strange_names(sentence, evidence, NAMED)
