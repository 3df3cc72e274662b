"""A conversation as Markdown can be read, whatever stands in it."""

from dataclasses import replace

from agent_ls.core.items import (
    AssistantMessage,
    Block,
    Call,
    CallState,
    Interruption,
    Item,
    ItemKind,
    ItemStatus,
    Notice,
    ResultStatus,
    ToolResult,
    UserMessage,
)
from agent_ls.wire.markdown import markdown
from tests.unit.wire.test_encode import CALL, CONVERSATION


def item(kind: ItemKind, payload: UserMessage | AssistantMessage | Call | Notice | Interruption) -> Item:
    return replace(CALL, kind=kind, payload=payload, status=ItemStatus.COMPLETED)


def test_messages_calls_and_results_are_told_in_order() -> None:
    edit = Call(
        call_id="c",
        tool="edit",
        input={"path": "a.py"},
        state=CallState.FINISHED,
        diff="@@ -1 +1 @@\n-a\n+b\n",
        decided_by="you",
        result=ToolResult(status=ResultStatus.OK, output=""),
    )
    said = [
        item(ItemKind.USER_MESSAGE, UserMessage(content=(Block(type="text", text="Mend it"),))),
        item(ItemKind.FILE_CHANGE, edit),
        item(ItemKind.ASSISTANT_MESSAGE, AssistantMessage(text="Done.\n")),
        item(ItemKind.ERROR, Notice(code="x", message="It broke.")),
    ]
    assert "".join(markdown(CONVERSATION, said)) == (
        "# t\n\nfile:///w · demo/m · 2026-01-01T00:00:00Z\n"
        "\n## You\n\nMend it\n"
        "\n## m\n\n**edit** `a.py`\n\n```diff\n@@ -1 +1 @@\n-a\n+b\n```\n\n*ok (decided by you)*\n"
        "\nDone.\n"
        "\n> **Error:** It broke.\n"
    )


def test_what_was_said_before_a_stop_is_told_before_it() -> None:
    said = [
        item(ItemKind.INTERRUPT, Interruption(by="you")),
        replace(item(ItemKind.ASSISTANT_MESSAGE, AssistantMessage(text="Once upon")), status=ItemStatus.INTERRUPTED),
        item(ItemKind.USER_MESSAGE, UserMessage(content=(Block(type="text", text="Again"),))),
    ]
    text = "".join(markdown(CONVERSATION, said))
    assert text.partition("Z\n")[2] == "\n## m\n\nOnce upon\n\n> **Stopped** by you\n\n## You\n\nAgain\n"


def test_backticks_in_an_output_do_not_end_its_fence() -> None:
    result = ToolResult(status=ResultStatus.OK, output="a\n````\nb", exit_code=0)
    call = Call(call_id="c", tool="shell", input={"command": "cat"}, state=CallState.FINISHED, result=result)
    text = "".join(markdown(CONVERSATION, [item(ItemKind.COMMAND, call)]))
    assert "`````\na\n````\nb\n`````" in text


def test_a_title_that_is_the_first_message_is_not_said_twice() -> None:
    message = item(ItemKind.USER_MESSAGE, UserMessage(content=(Block(type="text", text="Explain this\nfolder."),)))
    conversation = replace(CONVERSATION, title="Explain this…", workspace="file:///home/ada/my%20project")
    assert "".join(markdown(conversation, [message, message])) == (
        "# Conversation in my project\n\nfile:///home/ada/my%20project · demo/m · 2026-01-01T00:00:00Z\n"
        "\n## You\n\nExplain this\nfolder.\n"
        "\n## You\n\nExplain this\nfolder.\n"
    )
