"""Background shells: they outlive their call and their run, are seen, read and ended, and their end is told."""

from typing import Any

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene
from tests.unit.adapters.tools.shell_bench import is_running

pytestmark = pytest.mark.anyio

SERVE = "echo serving; cat gate; echo over; exit 3"


def serve(command: str = SERVE) -> Any:
    return use("shell", command=command, background=True)


async def begin(editor: Editor, conversation: Mirror, text: str = "serve") -> str:
    """A run that leaves a shell in the background, ended."""
    run_id = await editor.send(conversation, text)
    (asked,) = await editor.until_asked(conversation)
    assert asked["card"]["background"] is True
    await editor.respond(asked, "allow")
    await editor.until_ended(conversation, run_id)
    return run_id


async def shells(editor: Editor, conversation: Mirror | None = None) -> list[dict[str, Any]]:
    params = {} if conversation is None else {"conversationId": conversation.id}
    found: list[dict[str, Any]] = (await editor.request("agent/shell/list", params))["shells"]
    return found


async def ended(editor: Editor, conversation: Mirror) -> str:
    """What the notice of the end says, once it is there."""
    await editor.wait_for(lambda: conversation.of_kind("notice"))
    (notice,) = conversation.of_kind("notice")
    assert notice["payload"]["code"] == "shell_ended"
    assert notice["parentId"] == conversation.calls[0]["id"]
    return str(notice["payload"]["message"])


async def test_a_shell_in_the_background_outlives_its_run_and_its_end_is_told_at_the_next_step() -> None:
    async with scene(InOrder([serve(), say("It serves."), say("I see.")])) as (server, home), home.editor() as editor:
        gate = home.gate("gate")
        conversation = await editor.create(home.workspace)
        run_id = await begin(editor, conversation)
        (call,) = conversation.calls
        (shell,) = await shells(editor, conversation)
        assert shell == {
            "id": shell["id"],
            "conversationId": conversation.id,
            "runId": run_id,
            "itemId": call["id"],
            "command": SERVE,
            "cwd": str(home.workspace),
            "since": call["updatedAt"],
            "pid": shell["pid"],
        }
        assert is_running(shell["pid"])
        # Its lock is given back with its result.
        assert (await editor.request("agent/lock/list", {}))["locks"] == []
        assert f"`{shell['id']}`" in conversation.result(call["id"])["output"]

        await home.open_gate(gate)
        said = await ended(editor, conversation)
        assert said.startswith(f"The background shell `{shell['id']}` ended: exit code 3.")
        assert said.endswith("serving\nopen\nover")
        assert await shells(editor) == []
        await editor.until_ended(conversation, await editor.send(conversation, "go on"))
        assert [request.last_user_text for request in server.requests] == ["serve", "serve", f"[{said}]\n\ngo on"]


async def test_a_model_reads_what_a_shell_says_and_ends_it() -> None:
    answers = [serve(), say("It serves.")]
    async with scene(lambda _: answers.pop(0)) as (_, home), home.editor() as editor:
        home.gate("gate")
        conversation = await editor.create(home.workspace)
        await begin(editor, conversation)
        (shell,) = await shells(editor)
        name = shell["id"]
        answers += [
            use("shell_output", id=name),
            use("shell_output", id=name, after=8),
            use("shell_output", id="sh0"),
            use("shell_stop", id=name),
            say("Done."),
        ]
        await editor.until_ended(conversation, await editor.send(conversation, "look, then end it"))
        read, nothing, unknown, stopped = (conversation.result(call["id"]) for call in conversation.calls[1:])
        assert read["output"] == "serving\n[it runs; 8 bytes so far, go on with after=8]"
        assert nothing["output"] == "[it runs; 8 bytes so far, go on with after=8]"
        assert unknown["output"] == f"There is no background shell `sh0` in this conversation. There are {name}."
        assert stopped["output"] == f"{name} has ended."
        assert "was ended: by shell_stop" in await ended(editor, conversation)
        assert not is_running(shell["pid"])


async def test_a_person_ends_a_shell_and_the_same_command_twice_says_the_same() -> None:
    async with scene(InOrder([serve(), say("It serves.")])) as (_, home), home.editor() as editor:
        home.gate("gate")
        conversation = await editor.create(home.workspace)
        await begin(editor, conversation)
        (shell,) = await shells(editor)
        listed = await home.run("shells")
        assert shell["id"] in listed.stdout
        assert (await editor.request("agent/status", {}))["shells"] == {"running": [shell["id"]]}
        params = {"commandId": "stop-1", "shellId": shell["id"]}
        assert [await editor.request("agent/shell/stop", params) for _ in range(2)] == [{}, {}]
        assert not is_running(shell["pid"])
        assert "was ended: by " in await ended(editor, conversation)
        with pytest.raises(Refused, match="There is no background shell"):
            await editor.request("agent/shell/stop", {**params, "commandId": "stop-2"})


async def test_a_command_that_ends_at_once_is_told_like_any_other() -> None:
    async with scene(InOrder([serve("echo no; exit 4"), say("It failed.")])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await begin(editor, conversation)
        result = conversation.result(conversation.calls[0]["id"])
        assert (result["status"], result["output"]) == ("error", "no\n[exit code 4]")
        assert await shells(editor) == []


@pytest.mark.parametrize("how", ["archive", "delete"])
async def test_a_shell_ends_with_its_conversation(how: str) -> None:
    async with scene(InOrder([serve(), say("It serves.")])) as (_, home), home.editor() as editor:
        home.gate("gate")
        conversation = await editor.create(home.workspace)
        await begin(editor, conversation)
        (shell,) = await shells(editor)
        params = {"commandId": "end", "conversationId": conversation.id}
        if how == "archive":
            await editor.request("agent/conversation/update", {**params, "archived": True})
            assert "the conversation was archived" in await ended(editor, conversation)
        else:
            await editor.request("agent/conversation/delete", params)
        assert not is_running(shell["pid"])
        assert await shells(editor) == []
        assert [path.name for path in (home.state / "spool").iterdir()] == []


@pytest.mark.parametrize("how", ["kill -9", "restart", "stop"])
async def test_a_shell_does_not_outlive_its_daemon_and_the_next_one_tells_the_model(how: str) -> None:
    async with scene(InOrder([serve(), say("It serves."), say("I see.")])) as (server, home):
        home.gate("gate")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await begin(editor, conversation)
            (shell,) = await shells(editor)
            if how == "kill -9":
                await home.kill9()
                assert is_running(shell["pid"])
            else:
                assert (await home.run(how)).returncode == 0
        async with home.editor(name="next") as editor:
            conversation = await editor.attach(conversation.id)
            assert not is_running(shell["pid"])
            assert await shells(editor) == []
            said = await ended(editor, conversation)
            told = {"kill -9": "it still ran and was ended", "restart": "was restarted", "stop": "was stopped"}
            assert told[how] in said
            assert said.endswith("It said last:\nserving")
            assert list((home.state / "spool").iterdir()) == []
            await editor.until_ended(conversation, await editor.send(conversation, "go on"))
            assert server.requests[-1].last_user_text == f"[{said}]\n\ngo on"
