"""Bytes of any encoding come out as the text that was written, or as a reason."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, HEADER, listing

from ingest.readers import ReadError
from ingest.readers.decoding import decode

CHINESE = "我们提出了一种新的神经网络架构，用于情感识别。实验结果表明，该方法在多个数据集上优于现有方法。"
WESTERN = "Le modèle « naïf » coûte cher. Die Schätzung größerer Modelle ist schwierig – “déjà vu”, l’été."
ENGLISH_LIST = listing("We study a method for learning representations of images and text, and it works. " * 4)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (ENGLISH_LIST, "utf-8"),
        (ENGLISH_LIST, "utf-8-sig"),
        (ENGLISH_LIST, "utf-16"),
        (ENGLISH_LIST, "utf-16-le"),
        (ENGLISH_LIST, "utf-16-be"),
        (ENGLISH_LIST, "utf-32"),
        (ENGLISH_LIST, "gb18030"),  # a Chinese header over English abstracts
        (CHINESE, "gb18030"),
        (CHINESE * 20, "gb18030"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "big5"),
        (WESTERN, "cp1252"),
        ("Die Schätzung größerer Modelle nach Hölder, déjà vu.", "latin-1"),
        ("A long English abstract, with one name: Rényi. " * 30, "latin-1"),
        (
            "本研究では、画像認識のための新しい手法を提案します。実験の結果、既存の手法より優れていることを示した。",
            "shift_jis",
        ),
        ("우리는 이미지 인식을 위한 새로운 방법을 제안한다. 실험 결과 제안된 방법이 우수함을 보인다.", "euc_kr"),
    ],
)
def test_text_survives_its_encoding(text: str, encoding: str) -> None:
    if encoding == "big5":
        text = "我方提出全新的神經網路，用於情感辨識。實驗結果顯示，本方法在多個資料集上優於現有方法。" * 3
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("bom", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_utf16_in_both_byte_orders(bom: bytes) -> None:
    order = "utf-16-le" if bom == codecs.BOM_UTF16_LE else "utf-16-be"
    assert decode(bom + ENGLISH_LIST.encode(order)) == ENGLISH_LIST


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_one_stray_byte_does_not_spoil_the_rest(mark: bytes) -> None:
    data = mark + "\n\n".join(ABSTRACTS).encode() + b"\n\nA na\xefve addition \x97 pasted in."
    assert decode(data) == "\n\n".join(ABSTRACTS) + "\n\nA naïve addition — pasted in."


def test_a_nul_in_text_is_no_binary_file() -> None:
    assert decode(b"We study a method\x00 for " + b"long text. " * 50).startswith("We study a method\x00 for")


@pytest.mark.parametrize("data", [b"", b"  \r\n\t\n", b"\x00\x00\x00"])
def test_empty(data: bytes) -> None:
    with pytest.raises(ReadError, match="empty"):
        decode(data)


@pytest.mark.parametrize("seed", range(8))
def test_binary(seed: int) -> None:
    with pytest.raises(ReadError, match=r"binary|neither UTF-8"):
        decode(random.Random(seed).randbytes(4000))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (codecs.BOM_UTF16_LE + b"a\x00\x00\xd8" * 20, "says it is utf-16 but is not"),
        (bytes(range(0x80, 0x100)) * 3, "save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "binary"),
        (b"SQLite format 3\x00\x10\x00\x01\x01\x00@  " + bytes(500), "binary"),
        (b"\x01\x02\x03\x04 plain ASCII with controls", "binary"),
    ],
)
def test_undecodable_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        decode(data)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1).filter(str.strip))
def test_any_utf8_text_comes_back(text: str) -> None:
    if text.startswith("\ufeff"):
        text = text.lstrip("\ufeff") + "."
    assert decode(text.encode()) == text


@given(st.binary(max_size=300))
def test_any_bytes_give_text_or_a_reason(data: bytes) -> None:
    try:
        assert isinstance(decode(data), str)
    except ReadError as error:
        assert str(error)


def test_header_survives_in_gb18030() -> None:
    assert decode(listing(ABSTRACTS[2], ABSTRACTS[4]).encode("gb18030")).startswith(HEADER)


def test_a_wide_file_that_is_cut_off_within_a_character_is_read() -> None:
    whole = (ENGLISH_LIST * 2).encode("utf-16")
    assert decode(whole[:-1]).startswith(ENGLISH_LIST)
    assert decode(whole[:60] + b"\x00\xd8" + whole[60:]).endswith(ENGLISH_LIST)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "gb18030"])
def test_a_hole_of_zeros_makes_no_text_binary(encoding: str) -> None:
    whole = (CHINESE * 3).encode(encoding)
    middle = len((CHINESE * 2).encode(encoding))
    assert decode(whole[:middle] + bytes(4096) + whole[middle:]).replace("\0", "") == CHINESE * 3
