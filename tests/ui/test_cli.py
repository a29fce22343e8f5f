"""The command's contract: exit codes, stdout against stderr, JSON, one-line errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_kit import confer, one_line

PAPER = "We introduce MossNet, a network that counts moss species in photographs of 412 old city roofs."


def test_ask_json_is_one_answer_on_stdout(sample_folder: Path) -> None:
    result = confer("ask", "What pass@1 accuracy does Ekka reach?", "--index", sample_folder, "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert "80" in answer["text"]
    for citation in answer["citations"]:
        for evidence in citation["evidence"]:
            assert evidence["quote"] == citation["paper"]["abstract"][evidence["start"] : evidence["end"]]
    assert "telemetry" not in result.stderr.lower()


def test_ask_for_people_shows_quotes_and_sources(sample_folder: Path) -> None:
    result = confer("ask", "What pass@1 accuracy does Ekka reach?", "--index", sample_folder)
    assert result.returncode == 0
    assert "[1] Ekka" in result.stdout
    assert result.stdout.count("pass@1") == 1
    assert "ICML 2026" in result.stdout


def test_refusals_exit_0_and_name_the_nearest(sample_folder: Path) -> None:
    result = confer("ask", "What is the capital of Mongolia?", "--index", sample_folder)
    assert result.returncode == 0
    assert "The papers do not say." in result.stdout
    assert "Nearest papers:" in result.stdout


@pytest.mark.parametrize("question", ["", "  ", "\u200b", "?"])
def test_blank_question_is_wrong_usage(question: str, tmp_path: Path) -> None:
    result = confer("ask", question, "--index", tmp_path / "none")
    assert result.returncode == 2
    assert "blank" in one_line(result)


def test_long_question_is_wrong_usage(tmp_path: Path) -> None:
    result = confer("ask", "a" * 20_000, "--index", tmp_path / "none")
    assert result.returncode == 2
    assert "20,000" in one_line(result)


def test_missing_index_names_the_absolute_path(tmp_path: Path) -> None:
    result = confer("ask", "anything?", cwd=tmp_path)
    assert result.returncode == 2
    assert str(tmp_path / ".confer") in one_line(result)
    assert not (tmp_path / ".confer").exists()


def test_bad_llm_spec_is_wrong_usage(sample_folder: Path) -> None:
    result = confer("ask", "anything?", "--index", sample_folder, "--llm", "gpt-4")
    assert result.returncode == 2
    assert "openai:MODEL" in one_line(result)


def test_bad_setting_in_the_environment_is_named(sample_folder: Path) -> None:
    result = confer("ask", "anything?", "--index", sample_folder, CONFER_TOP_K="lots")
    assert result.returncode == 2
    assert "CONFER_TOP_K" in one_line(result)


def test_llm_that_cannot_be_reached_degrades_with_a_notice(sample_folder: Path) -> None:
    result = confer(
        "ask", "What pass@1 accuracy does Ekka reach?", "--index", sample_folder, "--llm", "http://127.0.0.1:9/v1#m",
        "--json", CONFER_LLM_RETRIES="0",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["engine"] == "extractive"
    assert "could not be reached" in answer["notices"][0]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"ICML 2026\n", "no abstracts"),
        (bytes(range(256)) * 20, "binary"),
    ],
)
def test_unusable_files_are_one_line_and_leave_nothing(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "list.txt").write_bytes(content)
    result = confer("ingest", tmp_path / "list.txt", "--index", tmp_path / "index")
    assert result.returncode == 2
    assert expected in one_line(result)
    assert "list.txt" in result.stderr
    assert not (tmp_path / "index" / "chroma").exists()


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    result = confer("ingest", tmp_path / "nothing.txt", "--index", tmp_path / "index")
    assert result.returncode == 2
    assert "nothing.txt" in one_line(result)


def test_papers_info_and_remove(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"Roofs 2025\n\n{PAPER}\n\n{PAPER.replace('moss', 'fern')}\n", encoding="utf-8")
    index = tmp_path / "index"
    report = json.loads(confer("ingest", tmp_path / "list.txt", "--index", index, "--json").stdout)
    assert (report["added"], report["rejected"]) == (2, 0)
    papers = json.loads(confer("papers", "--index", index, "--json").stdout)
    assert [p["venue"] for p in papers] == ["Roofs", "Roofs"]
    assert len({p["label"] for p in papers}) == 2
    assert json.loads(confer("info", "--index", index, "--json").stdout)["papers"] == 2
    unknown = confer("remove", "c0000", "--index", index)
    assert unknown.returncode == 2
    assert "nothing was removed" in one_line(unknown)
    assert papers[0]["id"] in confer("remove", papers[0]["id"], "--index", index).stdout
    assert json.loads(confer("info", "--index", index, "--json").stdout)["papers"] == 1


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"Roofs 2025\n\n{PAPER}\n\nN/A, and nothing else\n", encoding="utf-8")
    result = confer("ingest", tmp_path / "list.txt", "--index", tmp_path / "index", "--dry-run")
    assert result.returncode == 0 and not (tmp_path / "index").exists()
    lines = result.stdout.splitlines()
    assert lines[:2] == ["2 records read: 1 added, 1 rejected.", "A dry run: nothing was written."]
    assert "list.txt, line 5: too short for an abstract" in lines[2]
    assert "list.txt, line 3: very short: 16 words" in lines[3]


def test_a_list_with_names_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "list.jsonl").write_text(json.dumps({"headline": "Moss", "gist": PAPER}) + "\n", encoding="utf-8")
    place = (tmp_path / "list.jsonl", "--index", tmp_path / "index")
    assert "--map abstract=" in one_line(confer("ingest", *place))
    for wrong in ("abstract", "abstrakt=gist", "abstract="):
        assert "FIELD=NAME" in one_line(confer("ingest", *place, "--map", wrong))
    done = confer("ingest", *place, "--map", "abstract=gist", "--map", "title=headline", "--json")
    assert json.loads(done.stdout)["added"] == 1
    paper = json.loads(confer("papers", "--index", tmp_path / "index", "--json").stdout)[0]
    assert (paper["title"], paper["abstract"]) == ("Moss", PAPER)


def test_info_shows_the_last_reports_and_check_the_health(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"Roofs 2025\n\n{PAPER}\n", encoding="utf-8")
    index = tmp_path / "index"
    for _ in range(2):
        assert confer("ingest", tmp_path / "list.txt", "--index", index).returncode == 0
    told = confer("info", "--index", index).stdout.splitlines()[-2:]
    assert told[0].startswith("ingested ") and told[0].split("  ")[-1].startswith("1 record read: 1 unchanged. ")
    assert told[1].split("  ")[-1].startswith("1 record read: 1 added. ")
    assert confer("check", "--index", index).stdout == "1 paper in 1 passage: none ailing\n"
    (index / "sentences.f16").unlink()
    ill = confer("check", "--index", index)
    assert ill.returncode == 1 and "sentence vectors are missing" in ill.stdout and "--repair" in ill.stderr
    mended = confer("check", "--repair", "--index", index)
    assert mended.returncode == 0 and "1 paper encoded anew" in mended.stderr
    assert confer("check", "--index", index).returncode == 0


def test_rejects_are_listed_when_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text(f'title,abstract\nMoss,"{PAPER}"\nFern,\nReed,-\n', encoding="utf-8")
    strict = ("ingest", tmp_path / "list.csv", "--strict", "--index", tmp_path / "index")
    lines = confer(*strict).stderr.splitlines()
    assert [line.split(":")[0].strip() for line in lines] == ["rejected", "rejected", "confer"]
    done = confer(*strict, "--json")
    assert done.returncode == 2 and len(json.loads(done.stdout)["rejects"]) == 2
    assert not (tmp_path / "index").exists()


def test_the_papers_of_a_list_are_removed_by_a_filter(tmp_path: Path) -> None:
    for name, text in (("a.txt", PAPER), ("b.txt", "Ferns are counted too, by a drone that was built for vineyards.")):
        (tmp_path / name).write_text(f"Roofs 2025\n\n{text}\n", encoding="utf-8")
    place = ("--index", tmp_path / "index")
    confer("ingest", tmp_path / "a.txt", tmp_path / "b.txt", *place)
    assert "either their ids, or a filter" in one_line(confer("remove", *place))
    assert confer("remove", "--where", "file = c.txt", *place).stderr.endswith("nothing was removed\n")
    assert confer("remove", "--where", "file = b.txt", *place).stdout.startswith("removed ")
    assert [p["abstract"] for p in json.loads(confer("papers", "--json", *place).stdout)] == [PAPER]
    (tmp_path / "a.txt").unlink()
    confer("ingest", tmp_path / "b.txt", *place)
    assert confer("ingest", tmp_path / "b.txt", "--prune", *place).returncode == 0
    assert "1 unchanged." in confer("info", *place).stdout


def test_papers_are_aligned_and_years_are_shown_once(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text(
        f'title,abstract,venue,year\nMoss,"{PAPER}",Roofs 2025,2025\n'
        "Fern,Ferns are counted by a drone that was built for vineyards.,Ferns,2024\n",
        encoding="utf-8",
    )
    confer("ingest", tmp_path / "list.csv", "--index", tmp_path / "index")
    lines = confer("papers", "--index", tmp_path / "index").stdout.splitlines()
    assert [line.split("  ", 1)[1] for line in lines] == ["Roofs 2025  Moss", "Ferns 2024  Fern"]


def test_watch_goes_with_no_dry_run(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"Roofs 2025\n\n{PAPER}\n", encoding="utf-8")
    assert "--watch" in one_line(confer("ingest", tmp_path, "--watch", "--dry-run", "--index", tmp_path / "i"))
    assert "no such file" in one_line(confer("ingest", tmp_path / "gone", "--watch", "--index", tmp_path / "i"))


def test_papers_and_answers_within_a_filter(sample_folder: Path) -> None:
    place = ("--index", sample_folder, "--where")
    papers = json.loads(confer("papers", *place, "topic ~ ekka and year = 2026", "--json").stdout)
    assert [p["label"][:4] for p in papers] == ["Ekka"]
    none = confer("papers", *place, "year = 2025 and year = 2026")
    assert (none.returncode, none.stdout) == (0, "")
    assert none.stderr == "No paper of the index meets the filter year = 2025 and year = 2026.\n"
    answer = json.loads(confer("ask", "What accuracy does Ekka reach?", *place, "year = 1066", "--json").stdout)
    assert answer["refused"] and "year = 1066" in answer["refusal_reason"]
    for command in (("papers",), ("ask", "What accuracy does Ekka reach?")):
        faulty = confer(*command, *place, "year >= 2025 and venu = ICML")
        assert (faulty.returncode, faulty.stdout) == (2, "")
        assert faulty.stderr.splitlines() == [
            "confer: filter, column 18: unknown field 'venu'; did you mean venue?",
            "  year >= 2025 and venu = ICML",
            "                   ^",
        ]


def test_chat_within_a_filter(sample_folder: Path) -> None:
    question = "What pass@1 accuracy does Ekka reach?"
    script = f"/where not topic ~ ekka\n/where venu = ICML\n{question}\n/where\n{question}\n"
    result = confer("chat", "--index", sample_folder, stdin=script)
    assert result.returncode == 0, result.stderr
    assert 'Asking papers with not topic ~ "ekka": 56.' in result.stderr and "did you mean venue" in result.stderr
    assert "Asking all papers: 57." in result.stderr
    assert result.stdout.count("80%") == 1


def test_chat_reads_questions_until_the_end(sample_folder: Path) -> None:
    script = "What pass@1 accuracy does Ekka reach?\n\nwhat about pass@5?\n/new\n/quit\n"
    result = confer("chat", "--index", sample_folder, stdin=script)
    assert result.returncode == 0, result.stderr
    assert "88" in result.stdout
    assert "blank" in result.stderr


def test_light_commands_import_nothing_heavy() -> None:
    code = (
        "import sys, ui.cli, rag\n"
        "heavy = {'torch', 'chromadb', 'gradio', 'llama_index', 'sentence_transformers', 'bm25s'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    root = str(Path(__file__).parents[2])
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert result.stdout.strip() == "[]"
