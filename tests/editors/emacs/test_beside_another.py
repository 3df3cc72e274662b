"""A real Emacs with agent-ls beside the language server of a buffer: through a multiplexer, and taking turns.

The other server is the one of Ruff, the multiplexer Rassumfrassum, both real.
"""

import pytest

from agent_ls.testing.model_scenario import InOrder, say, use
from tests.editors.emacs.emacs import BIN, emacs, missing
from tests.scene import scene

WHY = missing() or "".join(
    f"{name} is not there (`pip install {package}`)"
    for name, package in (("rass", "rassumfrassum"), ("ruff", "ruff"))
    if not (BIN / name).exists()
)

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(bool(WHY), reason=WHY), pytest.mark.timeout(240)]

TEXT = "import os\n\nanswer = 41\n"
EDIT = use("edit", path="a.py", edits=[{"old": "41", "new": "42"}])
BESIDE = '(add-to-list \'eglot-server-programs `(python-mode . ,(agent-ls-beside "ruff" "server")))'
TURNS = """(progn
  (setq eglot-confirm-server-initiated-edits nil the-choice "ruff")
  (add-to-list 'eglot-server-programs
               `(python-mode . ,(eglot-alternatives '(("ruff" "server") ("agent-ls" "connect")))))
  (defun completing-read (_ names &rest _) (car (member the-choice names))))"""


async def test_through_a_multiplexer_both_servers_mark_one_buffer_and_a_change_is_allowed_there() -> None:
    answers = [use("read", path="a.py"), EDIT, say("It is 42.")]
    async with scene(InOrder(answers)) as (_, home), home.editor(name="terminal") as asker:
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        conversation = await asker.create(home.workspace)
        async with emacs(home, path, before=BESIDE) as editor:
            await editor.until_marked(path, "`os` imported but unused")
            run_id = await asker.send(conversation, "Make it right.")
            await editor.until_marked(path, "#1 waits for your answer: Edit a.py")
            await editor.until_marked(path, "`os` imported but unused")
            # With the new text the multiplexer forgets what was said of the old one.
            await editor.go(path, "import os")
            await editor.type(path, "import sys\n")
            await editor.until_marked(path, "`sys` imported but unused")
            await editor.until_marked(path, "#1 waits for your answer: Edit a.py")
            await editor.go(path, "answer")
            await editor.choose(path, "Allow once #1")
            await editor.until_shows(path, "answer = 42\n")
            assert await editor.text(path) == "import sys\nimport os\n\nanswer = 42\n"
            # The actions of the other server are offered too, and do what they say.
            await editor.choose(path, "Ruff: Fix all auto-fixable problems")
            assert await editor.text(path) == "\nanswer = 42\n"
        await asker.until_ended(conversation, run_id)
        (answered,) = conversation.requests.values()
        assert (answered["decision"], answered["decidedFrom"], path.read_text()) == ("allow", "Emacs", TEXT)


async def test_a_daemon_that_dies_behind_a_multiplexer_is_replaced_and_nobody_in_front_of_it_hears_of_it() -> None:
    async with scene(InOrder([use("read", path="a.py"), EDIT, say("It is 42.")])) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        async with emacs(home, path, before=BESIDE) as editor:
            await editor.until_marked(path, "`os` imported but unused")
            async with home.editor(name="terminal") as asker:
                conversation = await asker.create(home.workspace)
                run_id = await asker.send(conversation, "Make it right.")
                await editor.until_marked(path, "#1 waits")
            await home.kill9()
            await editor.go(path, "answer")
            await editor.choose(path, "Allow once #1")
            await editor.until_shows(path, "answer = 42\n")
            async with home.editor(name="later") as later:
                await later.until_ended(await later.attach(conversation.id), run_id)
            await editor.until_marked(path, "`os` imported but unused")


async def test_taking_turns_the_one_that_was_chosen_serves_the_buffer() -> None:
    async with scene(InOrder([use("read", path="a.py"), EDIT, say("It is 42.")])) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        async with home.editor(name="terminal") as asker, emacs(home, path, before=TURNS) as editor:
            await editor.until_marked(path, "`os` imported but unused")
            await editor.turn(path, "agent-ls")
            conversation = await asker.create(home.workspace)
            run_id = await asker.send(conversation, "Make it right.")
            await editor.until_marked(path, "#1 waits")
            await editor.go(path, "answer")
            await editor.choose(path, "Allow once #1")
            await editor.until_shows(path, "answer = 42\n")
            await asker.until_ended(conversation, run_id)
            await editor.turn(path, "ruff")
            await editor.until_marked(path, "`os` imported but unused")
