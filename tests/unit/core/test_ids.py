"""Ids follow from an input: the same input gives the same id, different inputs different ones."""

import re

from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core import ids


def test_ids_name_what_they_belong_to() -> None:
    run = ids.run_id("c1", 2)
    attempt = ids.attempt_id(run, 1)
    step = ids.step_id(attempt, 3, 40)
    item = ids.part_id(step, 0)
    assert (run, attempt, step, item) == ("c1.r2", "c1.r2.a1", "c1.r2.a1.s3.40", "c1.r2.a1.s3.40.p0")
    assert (ids.user_item_id(run, 1), ids.note_id(run, "e", 1)) == ("c1.r2.u1", "c1.r2.e1")
    assert (ids.request_id(item), ids.request_id(item, 2)) == (f"{item}.q1", f"{item}.q2")


def test_the_conversation_of_an_id_is_what_stands_before_the_first_dot() -> None:
    made = ids.conversation_id("some command")
    assert ids.request_id(ids.part_id(made, 1)).partition(".")[0] == made


@given(st.text(), st.text())
def test_two_commands_make_two_conversations_and_one_command_one(one: str, other: str) -> None:
    assert (ids.conversation_id(one) == ids.conversation_id(other)) is (one == other)


@given(st.text(max_size=200))
def test_a_call_id_is_legal_on_every_wire(item: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", ids.call_id(item))
