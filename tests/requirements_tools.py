"""What the agent's tools have to hold, as sentences, each with the tests that show it."""

from typing import Final

from tests.requirement import Requirement

TOOLS: Final[dict[str, Requirement]] = {
    "tools.mcp": Requirement(
        "Tools of MCP servers over stdio and HTTP are asked for like any other; a server that dies is said and started "
        "again; one that came with a workspace is started when a person has allowed exactly "
        "its definition, whatever rules and mode say.",
        (
            "tests/protocol/test_mcp.py",
            "tests/protocol/test_hostile_mcp.py",
            "tests/protocol/test_brought_servers.py",
            "tests/unit/config/test_mcp.py",
        ),
    ),
    "tools.language": Requirement(
        "Diagnostics, symbols and references come from the language servers of a window that offers them, about the "
        "text as it is now; where none does, the tools are not offered and say why.",
        ("tests/protocol/test_language.py",),
    ),
    "tools.everyday": Requirement(
        "glob, grep, todo and ask: bounded, never in the way of the loop, no way around rules about reads; one reply "
        "with all kinds of calls runs under locks, with its results in the order of its calls.",
        (
            "tests/protocol/test_everyday_tools.py",
            "tests/unit/adapters/tools/test_search.py",
            "tests/unit/core/test_unread.py",
            "tests/unit/runtime/test_batch.py",
        ),
    ),
    "tools.background": Requirement(
        "A shell in the background outlives its run, is seen, read and ended by model and person, and ends with its "
        "conversation or its daemon; its end is told to the model at its next step, whenever it came.",
        ("tests/protocol/test_background.py",),
    ),
    "tools.sandbox": Requirement(
        "In a sandbox a command writes its workspace alone, has no network and sees no daemon; what fails because of "
        "it is offered to run outside: an approval of its own that no rule and no mode gives, kept through kill -9.",
        ("tests/security/test_sandbox.py", "tests/unit/adapters/tools/test_shell_sandbox.py"),
    ),
    "tools.loop": Requirement(
        "No tool keeps the event loop from others: a flood of output, a large tree, file or page.",
        ("tests/unit/adapters/tools/test_loop_is_free.py",),
    ),
    "tools.fetch": Requirement(
        "A page as text: asked for each host, never off the public internet unasked, connected to what was judged.",
        ("tests/unit/adapters/tools/test_fetch.py", "tests/unit/core/test_host_rules.py"),
    ),
    "tools.question": Requirement(
        "A question of the agent waits for the person, through kill -9 under the same number; its answer, a refusal or "
        "a stop is the one result of the call.",
        ("tests/crash/test_question.py", "tests/unit/core/test_questions.py", "tests/unit/cli/test_answers.py"),
    ),
    "tools.patch": Requirement(
        "A patch changes several files or none: all of them are looked at before the first is touched, what cannot be "
        "finished is taken back, and after a crash the files tell what happened.",
        (
            "tests/unit/adapters/tools/test_apply_patch.py",
            "tests/unit/core/test_patch.py",
            "tests/protocol/test_changes.py::test_a_patch_is_listed_file_by_file_and_what_it_removed_comes_back",
        ),
    ),
}
