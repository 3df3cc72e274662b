"""What failed at a provider is told once: the sentence, and a hint that adds something to it."""

import pytest

from agent_ls.core.items import Notice
from agent_ls.ports.provider import Cause, Failure
from agent_ls.runtime.ring import notice_of

KEY = "It refused the key. Check LOCAL_KEY; `agent-ls doctor` shows where it comes from."


@pytest.mark.parametrize(
    ("cause", "message", "hint"),
    [
        (Cause.UNAUTHORIZED, KEY, "Correct it, run `agent-ls restart`, and send the message again."),
        (Cause.UNAUTHORIZED, "No.", "Check the key of this provider; `agent-ls doctor` shows where it comes from."),
        (Cause.SERVER, "It failed. Send the message again.", "`agent-ls log` has the details."),
        (Cause.SERVER, "It failed.", "Send the message again; `agent-ls log` has the details."),
    ],
)
def test_a_hint_does_not_say_the_sentence_again(cause: Cause, message: str, hint: str) -> None:
    told = notice_of(Failure(cause, message))
    assert told == Notice(code=told.code, message=message, hint=hint)
