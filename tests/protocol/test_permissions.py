"""What runs without being asked, what a person may allow for longer, and how they take it back."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByConversation, InOrder, UseTool, reply, say
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

RUN = "touch ran"


def shells(*commands: str) -> Any:
    return reply(*(UseTool("shell", {"command": command}) for command in commands))


def outcomes(conversation: Mirror) -> list[tuple[str, str | None]]:
    """(state, rule) of each call."""
    return [(call["payload"]["state"], call["payload"].get("rule")) for call in conversation.calls]


async def rules(editor: Editor, **seen_from: Any) -> list[tuple[str, str, str]]:
    found = (await editor.request("agent/permission/list", seen_from))["rules"]
    return [(rule["effect"], rule["rule"], rule["scope"]) for rule in found]


async def add(editor: Editor, rule: str, **more: Any) -> Any:
    return await editor.command("agent/permission/add", **{"effect": "allow", "rule": rule, **more})


async def remove(editor: Editor, rule_id: str) -> Any:
    return await editor.command("agent/permission/remove", ruleId=rule_id)


async def test_commands_that_only_look_run_at_once_and_the_ledger_says_by_which_rule() -> None:
    calls = shells("ls", "cat a.txt | head -1", "cd src && ls")
    async with scene(InOrder([calls, say("Seen.")])) as (_, home), home.editor() as editor:
        (home.workspace / "a.txt").write_text("one\ntwo\n")
        (home.workspace / "src").mkdir()
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Look."))
        table = "only looks (table of harmless commands)"
        assert outcomes(conversation) == [
            ("finished", f"built-in: `ls` {table}"),
            ("finished", f"built-in: `cat` {table}; built-in: `head` {table}"),
            ("finished", f"built-in: `cd` {table}; built-in: `ls` {table}"),
        ]
        assert [conversation.result(call["id"])["output"] for call in conversation.calls][:2] == [
            "a.txt\nsrc\n",
            "one\n",
        ]
        stored = [event["entity"]["payload"] for event in await editor.history(conversation) if event["kind"] == "item"]
        assert {(one["rule"], one["decidedBy"]) for one in stored if one.get("decidedBy")} == {
            (rule, "rule") for _, rule in outcomes(conversation)
        }


async def test_a_look_at_what_read_would_ask_for_is_asked_for_with_its_real_place() -> None:
    commands = ["cat .env", "cat /etc/hostname", "cat leak", "cat out", "grep x gate", "ls > listed", "grep -rn x ."]
    async with scene(InOrder([shells(*commands), say("Well.")])) as (_, home), home.editor() as editor:
        (home.workspace / ".env").write_text("TOKEN=1")
        (home.workspace / "leak").symlink_to(".env")
        (home.workspace / "out").symlink_to("/etc/hostname")
        home.gate("gate")
        conversation = await editor.create(home.workspace)
        await editor.send(conversation, "Look.")
        asked = await editor.until_asked(conversation, len(commands))
        assert [request["card"]["command"] for request in asked] == commands
        assert [request["card"].get("targets") for request in asked] == [
            None,
            None,
            {"leak": f"{home.workspace}/.env"},
            {"out": "/etc/hostname"},
            None,
            None,
            None,
        ]


async def test_a_command_that_only_looks_waits_for_nobody() -> None:
    story = {
        "hold": InOrder([shells("echo held; cat gate"), say("Held.")]),
        "look": InOrder([shells("ls"), say("Seen.")]),
    }
    async with scene(ByConversation(story)) as (_, home), home.editor() as editor:
        gate = home.gate("gate")
        holder, looker = await editor.create(home.workspace), await editor.create(home.workspace)
        holding = await editor.send(holder, "hold")
        await editor.respond((await editor.until_asked(holder))[0], "allow")
        await editor.wait_for(lambda: "held" in holder.output)
        await editor.until_ended(looker, await editor.send(looker, "look"))
        await home.open_gate(gate)
        await editor.until_ended(holder, holding)


async def test_rules_are_kept_in_their_scope_over_a_kill_and_taken_back() -> None:
    async with scene(InOrder([])) as (_, home):
        other = home.folder("other")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            here = {"workspace": home.workspace.as_uri()}
            local = await add(editor, " shell(make) ", scope="workspace", **here)
            assert local == {
                "id": local["id"],
                "effect": "allow",
                "rule": "shell(make)",
                "scope": "local",
                "origin": local["origin"],
            }
            assert Path(local["origin"]).is_relative_to(home.state)
            await add(editor, "fetch", scope="user", effect="deny")
            own = await add(editor, "shell(npm *)", scope="conversation", effect="ask", conversationId=conversation.id)
        await home.kill9()
        async with home.editor() as editor:
            everywhere = ("deny", "fetch", "user")
            inside = [everywhere, ("allow", "shell(make)", "local")]
            assert await rules(editor, **here) == inside
            assert await rules(editor, workspace=other.as_uri()) == [everywhere]
            assert await rules(editor, conversationId=conversation.id) == [
                *inside,
                ("ask", "shell(npm *)", "conversation"),
            ]
            for known in (own["id"], local["id"]):
                await remove(editor, known)
            assert await rules(editor, conversationId=conversation.id) == [everywhere]
            with pytest.raises(Refused) as gone:
                await remove(editor, local["id"])
            assert gone.value.code == "not_found"
        assert list(home.workspace.iterdir()) == []


async def test_the_same_command_id_keeps_or_removes_a_rule_once() -> None:
    async with scene(InOrder([])) as (_, home), home.editor() as editor:
        given = {"commandId": "once", "effect": "allow", "rule": "shell(make)", "scope": "user"}
        first = await editor.request("agent/permission/add", given)
        assert await editor.request("agent/permission/add", given) == first
        with pytest.raises(Refused) as conflict:
            await editor.request("agent/permission/add", {**given, "rule": "shell(x)"})
        assert conflict.value.code == "command_conflict"
        taken = {"commandId": "back", "ruleId": first["id"]}
        assert [await editor.request("agent/permission/remove", taken) for _ in range(2)] == [{}, {}]
        assert await rules(editor, workspace=home.workspace.as_uri()) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rule": "shell(ls && rm x)"}, "can never allow anything"),
        ({"rule": "two words"}, "is not a rule"),
        ({"rule": "edit(../x)", "effect": "deny"}, "holds `..`"),
        ({"scope": "workspace"}, "`workspace` is missing"),
        ({"scope": "conversation"}, "`conversationId` is missing"),
        ({"scope": "once"}, "must be one of"),
        ({"scope": "conversation", "conversationId": "gone"}, "no conversation"),
    ],
)
async def test_what_cannot_be_kept_is_refused_with_a_sentence(given: Any, said: str) -> None:
    async with scene(InOrder([])) as (_, home), home.editor() as editor:
        with pytest.raises(Refused) as refused:
            await add(editor, **{"rule": "shell(make)", "scope": "user", **given})
        assert said in refused.value.message
        assert await rules(editor, workspace=home.workspace.as_uri()) == []


async def test_rules_on_the_command_line(tmp_path: Path) -> None:
    async with scene(InOrder([]), config='[permissions]\ndeny = ["shell(rm *)"]\n') as (_, home):
        kept = await home.run("rules", "add", "shell(make *)")
        assert (kept.returncode, kept.stdout) == (0, "Kept in this workspace, for you: allow shell(make *)\n")
        assert (await home.run("rules", "add", "ask", "edit(db/**)", "--scope", "user")).returncode == 0
        listed = json.loads((await home.run("rules", "list", "--json")).stdout)["rules"]
        assert [(rule["effect"], rule["rule"], rule["scope"], "id" in rule) for rule in listed] == [
            ("deny", "shell(rm *)", "user", False),
            ("ask", "edit(db/**)", "user", True),
            ("allow", "shell(make *)", "local", True),
        ]
        said = await home.run("rules", "explain", "shell", "make all")
        assert said.stdout.startswith("allow  ")
        assert "by local: allow shell(make *) (" in said.stdout
        assert (await home.run("rules", "remove", "shell(make *)")).stdout == "Removed: allow shell(make *)\n"
        assert (await home.run("rules", "explain", "shell", "make all")).stdout.startswith("ask")
        # Of a file that nobody has read, what the rules say of it.
        (home.workspace / "db").mkdir()
        (home.workspace / "db" / "a.sql").write_text("x")
        assert (await home.run("rules", "explain", "edit", "db/a.sql")).stdout.startswith("ask  The rule `edit(db/**)`")
        assert (await home.run("rules", "explain", "edit", ".git/config")).stdout.startswith("deny  ")
        assert (await home.run("rules", "explain", "write", "db/a.sql")).stdout.startswith("ask  The rule")
        in_a_file = await home.run("rules", "remove", "shell(rm *)")
        assert (in_a_file.returncode, str(home.config) in in_a_file.stderr) == (1, True)
        assert (await home.run("rules", "remove", "shell(gone)")).returncode == 1
        assert (await home.run("rules", "add", "shell(a && b)")).returncode == 1


def options(request: Any) -> list[tuple[str, str | None, str | None]]:
    return [(option["id"], option.get("scope"), option.get("rule")) for option in request["options"]]


ALWAYS = [
    ("allow_once", "once", None),
    ("allow_conversation", "conversation", "shell(git log -1)"),
    ("allow_conversation_prefix", "conversation", "shell(git log *)"),
    ("allow_workspace", "workspace", "shell(git log -1)"),
    ("deny", None, None),
]


async def answered(
    editor: Editor, home: Home, option: dict[str, str], *then: str, place: Path | None = None
) -> list[str]:
    """Commands that are asked for after `git log -1` was allowed in this way; the others ran."""
    conversation = await editor.create(place or home.workspace)
    await editor.send(conversation, "Go.")
    (first,) = await editor.until_asked(conversation)
    assert options(first) == ALWAYS
    await editor.respond(first, "allow", **option)
    await editor.wait_for(lambda: len(conversation.calls) == 1 + len(then))
    return [request["card"]["command"] for request in conversation.pending]


NEXT = ("git log -1", "git log -2", "git log --output=x", "git log -1; touch P", "git status")


@pytest.mark.parametrize(
    ("option", "asked"),
    [
        ({"optionId": "allow_once"}, NEXT),
        ({"optionId": "allow_conversation"}, NEXT[1:]),
        ({"scope": "conversation"}, NEXT[1:]),
        ({"optionId": "allow_conversation_prefix"}, NEXT[2:]),
        ({"optionId": "allow_workspace"}, NEXT[1:]),
        ({"scope": "workspace"}, NEXT[1:]),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)
async def test_an_always_keeps_the_rule_that_it_showed_and_no_more(option: dict[str, str], asked: tuple[str]) -> None:
    story = InOrder([shells("git log -1"), shells(*NEXT), say("Done.")])
    async with scene(story) as (_, home), home.editor() as editor:
        assert await answered(editor, home, option, *NEXT) == list(asked)


async def test_an_always_for_the_workspace_is_nobody_elses_and_not_in_the_repository() -> None:
    story = InOrder([shells("git log -1"), shells("git log -1"), say("Done."), shells("git log -1"), say("Done.")])
    async with scene(story) as (_, home):
        async with home.editor() as editor:
            assert await answered(editor, home, {"optionId": "allow_workspace"}, "git log -1") == []
            (conversation,) = editor.mirrors.values()
            await editor.wait_for(lambda: [run["status"] for run in conversation.runs.values()] == ["completed"])
            before = await rules(editor, workspace=home.workspace.as_uri())
            assert before == [("allow", "shell(git log -1)", "local")]
        await home.kill9()
        async with home.editor() as editor:
            assert await rules(editor, workspace=home.workspace.as_uri()) == before
            elsewhere = await editor.create(home.folder("other"))
            await editor.send(elsewhere, "Go.")
            assert options((await editor.until_asked(elsewhere))[0]) == ALWAYS
        assert list(home.workspace.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "follow_up"),
    [
        ('grep "a.*b" ../f.txt', 'grep "a.; touch P; echo b" ../f.txt'),
        ("for i in 1; do echo $i; done", "for i in 1; do touch P; done"),
        ("python3 -c 'print(1)'", 'python3 -c \'open("P", "w")\''),
        ("cd src && make", "cd src && touch P"),
        ("sudo ls", "sudo touch P"),
        ("git push --force", "git push --force x"),
    ],
)
async def test_an_always_never_reaches_further_than_it_says(command: str, follow_up: str) -> None:
    async with scene(InOrder([shells(command), shells(follow_up), say("Done.")])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.send(conversation, "Go.")
        (first,) = await editor.until_asked(conversation)
        kept = [option["rule"] for option in first["options"] if "rule" in option]
        assert kept == ([f"shell({command})"] * 2 if command.startswith("grep") else [])
        await editor.respond(first, "allow", **({"scope": "conversation"} if kept else {}))
        await editor.wait_for(lambda: [r["card"]["command"] for r in conversation.pending] == [follow_up])
        assert not (home.workspace / "P").exists()


@pytest.mark.parametrize("scope", ["conversation", "workspace", "file"])
async def test_a_rule_that_is_taken_back_no_longer_lets_start_what_waits(scope: str) -> None:
    story = {
        "hold": InOrder([shells("echo held; cat gate"), say("Held.")]),
        "wait": InOrder([shells(RUN), say("I see.")]),
    }
    config = f'[permissions]\nallow = ["shell({RUN})"]\n' if scope == "file" else ""
    async with scene(ByConversation(story), config=config) as (_, home), home.editor() as editor:
        gate = home.gate("gate")
        holder, waiter = await editor.create(home.workspace), await editor.create(home.workspace)
        holding = await editor.send(holder, "hold")
        await editor.respond((await editor.until_asked(holder))[0], "allow")
        await editor.wait_for(lambda: "held" in holder.output)
        where = {"workspace": home.workspace.as_uri(), "conversationId": waiter.id}
        known = None if scope == "file" else (await add(editor, f"shell({RUN})", scope=scope, **where))["id"]
        run_id = await editor.send(waiter, "wait")
        await editor.wait_for(lambda: [state for state, _ in outcomes(waiter)] == ["approved"])
        if known is not None:
            await remove(editor, known)
        else:
            home.config.write_text(home.config.read_text().replace("allow", "ask"))
            await until_rules(editor, [("ask", f"shell({RUN})", "user")])
        await home.open_gate(gate)
        await editor.until_ended(holder, holding)
        await editor.until_ended(waiter, run_id)
        (call,) = waiter.calls
        assert (call["payload"]["state"], "does not hold any more" in waiter.result(call["id"])["output"]) == (
            "not_run",
            True,
        )
        assert lines(home.workspace / "ran") == []


async def until_rules(editor: Editor, expected: list[tuple[str, str, str]]) -> None:
    """Asks again until they hold: whoever changed a file does not hear of it."""
    with anyio.fail_after(LIMIT_S):
        while await rules(editor) != expected:
            pass


async def test_a_rule_file_that_changes_holds_at_once() -> None:
    async with scene(InOrder([])) as (_, home), home.editor() as editor:
        assert await rules(editor) == []
        provider = home.config.read_text()
        home.config.write_text(provider + '[permissions]\ndeny = ["shell(rm *)"]\n')
        await until_rules(editor, [("deny", "shell(rm *)", "user")])
        # What cannot be read changes nothing; an editor that swaps the file in is heard as well.
        home.config.write_text("[permissions\n")
        beside = home.config.with_suffix(".new")
        beside.write_text(provider + '[permissions]\nask = ["fetch"]\n')
        beside.replace(home.config)
        await until_rules(editor, [("ask", "fetch", "user")])
        shared = home.workspace / ".agent-ls"
        shared.mkdir()
        (shared / "config.toml").write_text('[permissions]\ndeny = ["edit(db/**)"]\nallow = ["shell"]\n')
        here = {"workspace": home.workspace.as_uri()}
        assert await rules(editor, **here) == [("ask", "fetch", "user"), ("deny", "edit(db/**)", "workspace")]
