"""B52 as a kind: an export that was cut, joined, garbled or shuffled. What can be read is read, what cannot is told."""

import json
import os
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.adapters.ledger.jsonl import JsonLines, open_file
from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.imported import Blob, Found, Gap, History, Record, Standard, Strange, ordered, taken
from agent_ls.core.invariants import violations
from agent_ls.core.items import AssistantMessage, Item
from agent_ls.core.projection import ConversationState

FROZEN = Path(__file__).parents[3] / "replay" / "schema_2.jsonl"
EVENTS = [line + b"\n" for line in FROZEN.read_bytes().split(b"\n") if line]
EVENTS[0] = b'%s,"last":%d}\n' % (EVENTS[0][:-2], len(EVENTS))
CONTENT = b"a long output"
BLOB = (
    json.dumps({"kind": "blob", "digest": sha256(CONTENT).hexdigest(), "data": b64encode(CONTENT).decode()}) + "\n"
).encode()
LINES = [*EVENTS, BLOB]
SAID = next(n for n, line in enumerate(EVENTS) if b"rgerlich" in line)
STANDARD = Standard(
    conversation=Conversation(
        id="c0123456789abcdef",
        workspace="file:///w",
        title="Imported",
        provider="p",
        model="m",
        mode=Mode.ASK,
        created_at="2026-05-05T00:00:00.000Z",
        updated_at="2026-05-05T00:00:00.000Z",
    ),
    at="2026-05-05T00:00:00.000Z",
)


def read(content: bytes, folder: Path) -> tuple[list[Record], History]:
    path = folder / "export.jsonl"
    path.write_bytes(content)
    file = JsonLines(str(path), str(folder))
    try:
        records = list(file.records())
    finally:
        file.close()
    return records, ordered(record for record in records if isinstance(record, Found | Strange))


def seqs(history: History) -> list[int]:
    return [event.seq for event in history.events]


def told(records: list[Record], history: History) -> list[Gap]:
    return [record for record in records if isinstance(record, Gap)] + list(history.gaps)


def without(*lost: int) -> list[int]:
    return [seq for seq in range(1, len(EVENTS) + 1) if seq not in lost]


def test_a_whole_export_is_whole(state_dir: Path) -> None:
    records, history = read(b"".join(LINES), state_dir)
    assert (seqs(history), told(records, history)) == (without(), [])
    assert [record for record in records if isinstance(record, Blob)] == [
        Blob(len(LINES), sha256(CONTENT).hexdigest(), CONTENT)
    ]


@pytest.mark.parametrize("joint", [b"", b"\n", b"\0" * 300, b"\0" * 300 + b"\n"])
def test_a_cut_record_costs_itself_and_not_the_next_one(joint: bytes, state_dir: Path) -> None:
    for cut in (1, 7, 20, 60, 100, len(EVENTS[9]) - 3):
        content = b"".join(LINES[:9]) + EVENTS[9][:cut] + joint + b"".join(LINES[10:])
        records, history = read(content, state_dir)
        assert seqs(history) == without(10)
        assert {gap.line for gap in told(records, history)} <= {10, 11}
        assert len(told(records, history)) >= 2


def test_what_was_cut_behind_a_whole_record_is_missed(state_dir: Path) -> None:
    """Nothing is left of the rest: only the first line knows how much there was."""
    records, history = read(b"".join(EVENTS[:40]), state_dir)
    assert told(records, history) == [Gap(41, f"Events 41 to {len(EVENTS)} are missing.")]


@pytest.mark.parametrize(
    "noise", [b"\0" * 300, b"\xef\xbb\xbf", b"\r", b"\n\n \n", b"\xff\xfe\n", b"null\n", b"{}\n", b"[[[[\n"]
)
def test_noise_between_records_costs_none(noise: bytes, state_dir: Path) -> None:
    for place in (0, 5, len(LINES)):
        _, history = read(b"".join([*LINES[:place], noise, *LINES[place:]]), state_dir)
        assert (seqs(history), history.gaps) == (without(), [])


@pytest.mark.parametrize("raw", ["\n", "\r\n", "\n\n\n", "\u2028", "\u0085", "\t", "\0"])
def test_raw_signs_inside_a_text_belong_to_it(raw: str, state_dir: Path) -> None:
    torn = EVENTS[SAID].replace(b"Done, ", f"Done,{raw}".encode())
    records, history = read(b"".join([*LINES[:SAID], torn, *LINES[SAID + 1 :]]), state_dir)
    assert (seqs(history), told(records, history)) == (without(), [])
    entity = next(e.entity for e in history.events if e.seq == SAID + 1 and isinstance(e, Found))
    assert isinstance(entity, Item)
    assert isinstance(entity.payload, AssistantMessage)
    assert entity.payload.text == f"Done,{raw}ärgerlich \u2028 \U0001f600."


def test_a_file_without_a_line_end_is_read(state_dir: Path) -> None:
    records, history = read(b"".join(LINES).replace(b"\n", b"") * 3, state_dir)
    assert (seqs(history), told(records, history)) == (without(), [])


def test_lines_twice_and_in_any_order_are_the_same_history(state_dir: Path) -> None:
    records, history = read(b"".join([*reversed(LINES), *LINES]), state_dir)
    assert (seqs(history), told(records, history)) == (without(), [])


def test_two_records_of_one_number_are_told(state_dir: Path) -> None:
    other = EVENTS[7].replace(b'"seq":8', b'"seq":9')
    records, history = read(b"".join([*LINES[:9], other, *LINES[9:]]), state_dir)
    assert seqs(history) == without()
    assert ["twice" in gap.what for gap in told(records, history)] == [True]


def test_a_damaged_blob_is_told_and_not_taken(state_dir: Path) -> None:
    records, history = read(b"".join(EVENTS) + BLOB.replace(b'"data": "Y', b'"data": "Z'), state_dir)
    assert [gap.what for gap in told(records, history)] == ["A blob was damaged: it is not what its digest says."]


def test_a_newer_kind_is_kept_by_its_name(state_dir: Path) -> None:
    run = json.loads(EVENTS[2])["entity"]["id"]
    own = run.partition(".")[0]
    entity = {"id": f"{run}.k1", "conversationId": own, "runId": run, "files": 3}
    newer = {"seq": len(EVENTS) + 1, "at": "2026-01-01T00:00:00.000Z", "kind": "checkpoint", "entity": entity}
    records, history = read(b"".join([*LINES, json.dumps(newer).encode(), b"\n"]), state_dir)
    assert [type(event) for event in history.events[-1:]] == [Strange]
    assert told(records, history) == []


def test_what_is_no_file_is_refused_with_a_sentence(state_dir: Path) -> None:
    os.mkfifo(state_dir / "pipe")
    for name in ("nothing", "pipe", "."):
        refused = open_file(str(state_dir / name), str(state_dir))
        assert isinstance(refused, Refusal)
        assert refused.code is Code.INVALID_PARAMS


CUT = st.tuples(st.just("cut"), st.integers(0, 40_000), st.integers(1, 5_000))
NOISE = st.tuples(st.just("noise"), st.integers(0, 40_000), st.sampled_from([b"\0" * 300, b"\n", b"\xff", b'{"seq":']))
OVER = st.tuples(st.just("over"), st.integers(0, 40_000), st.sampled_from([b"\0" * 40, b"\xff" * 7, b"}}}}", b'""']))
TWICE = st.tuples(st.just("twice"), st.integers(0, 40_000), st.integers(1, 3_000))
TROUBLE = st.lists(st.one_of(CUT, NOISE, OVER, TWICE), min_size=1, max_size=5)


def spoiled(content: bytes, trouble: list[tuple[str, int, int | bytes]]) -> bytes:
    for kind, anywhere, what in trouble:
        place = anywhere % (len(content) + 1)
        match kind, what:
            case "cut", int(size):
                content = content[:place] + content[place + size :]
            case "twice", int(size):
                content = content[: place + size] + content[place:]
            case "noise", bytes(noise):
                content = content[:place] + noise + content[place:]
            case _, bytes(over):
                content = content[:place] + over + content[place + len(over) :]
    return content


@settings(max_examples=150, deadline=None)
@given(trouble=TROUBLE)
def test_however_it_was_spoiled_nothing_readable_is_lost_and_nothing_is_lost_in_silence(
    trouble: list[tuple[str, int, int | bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    content = spoiled(b"".join(LINES), trouble)
    records, history = read(content, folder)
    whole = set(content.split(b"\n"))
    readable = {n for n, line in enumerate(EVENTS, start=1) if line.rstrip(b"\n") in whole}
    assert readable <= set(seqs(history)), "a whole line is always taken"
    if set(seqs(history)) != set(without()) and history.events:
        assert told(records, history) != []
    if not history.events:
        return
    done = taken(history, STANDARD, first_number=1, gaps=len(told(records, history)))
    newest = {fact.entity.id: fact.entity for fact in done.facts}
    state = ConversationState.of(newest.values(), len(done.facts))
    assert violations(state, live=False, unsettled=()) == []
    assert state.active is None
    assert not state.pending
