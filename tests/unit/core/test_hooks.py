"""What the end of a hook's program means."""

import pytest

from agent_ls.core.hooks import NOTHING, HookAnswer, HookEvent, read

IGNORED = "It was ignored."


@pytest.mark.parametrize(
    ("code", "stdout", "stderr", "answer"),
    [
        (0, "", "", NOTHING),
        (0, "all is well", "loud", NOTHING),
        (0, '{"input": {"a": 1}}', "", HookAnswer(input={"a": 1})),
        (0, ' {"context": " it rains "}\n', "", HookAnswer(context="it rains")),
        (0, '{"context": ""}', "", NOTHING),
        (0, '{"decision": "allow"}', "", NOTHING),
        (2, '{"input": {}}', " not yours \n", HookAnswer(refused="not yours")),
        (2, "", "", HookAnswer(refused="The hook gave no reason.")),
        (1, "", "a\nb", HookAnswer(trouble=f"The hook `stop` ended with status 1: a⏎b. {IGNORED}")),
        (-9, "", "", HookAnswer(trouble=f"The hook `stop` was ended by signal 9. {IGNORED}")),
        (
            0,
            '{"input": []}',
            "",
            HookAnswer(trouble=f"The hook `stop` printed an `input` that is no object. {IGNORED}"),
        ),
        (
            0,
            '{"context": 1}',
            "",
            HookAnswer(trouble=f"The hook `stop` printed a `context` that is no text. {IGNORED}"),
        ),
        (
            0,
            '{"input": ' + '{"a":' * 200 + "1" + "}" * 200 + "}",
            "",
            HookAnswer(trouble=f"The hook `stop` printed an `input` that is no object. {IGNORED}"),
        ),
    ],
)
def test_zero_goes_on_two_refuses_and_the_rest_is_shown_and_ignored(
    code: int, stdout: str, stderr: str, answer: HookAnswer
) -> None:
    assert read(HookEvent.STOP, code, stdout=stdout, stderr=stderr) == answer
