"""The sandbox, through the socket: no way to the daemon, and a way out that a person has to allow."""

import pytest

from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene
from tests.unit.adapters.tools.test_shell_sandbox import why_not

pytestmark = pytest.mark.anyio

LOOK = "ls $AGENT_LS_STATE_DIR $AGENT_LS_RUNTIME_DIR | grep -c -e sock -e ledger; true"
SANDBOX = "\n[sandbox]\nenabled = true\n"


async def test_a_command_finds_no_daemon_and_may_ask_to_be_let_out() -> None:
    if reason := why_not():
        pytest.skip(reason)
    story = InOrder(
        [
            use("shell", command=LOOK),
            use("shell", command="touch /etc/agent-ls-test"),
            use("shell", command="echo out", outside=True),
            say("Done."),
        ]
    )
    async with scene(story, config=SANDBOX) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id = await editor.send(conversation, "go")
        # In mode auto all of it runs but what leaves the sandbox.
        (asked,) = await editor.until_asked(conversation)
        first, second = (conversation.result(call["id"]) for call in conversation.calls[:2])
        assert first["output"] == "0\n"
        assert "the sandbox is why, it seems: it may not write there" in second["output"]
        assert asked["title"] == "$ echo out (outside the sandbox)"
        assert asked["card"]["outside"] is True
        assert [option["id"] for option in asked["options"]] == ["allow_once", "deny"]
        await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        assert conversation.result(conversation.calls[2]["id"])["output"] == "out\n"
