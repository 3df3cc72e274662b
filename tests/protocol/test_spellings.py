"""A window's own spelling of a file: whatever it calls it, marks, edits and links come back under that name."""

from pathlib import Path

import pytest

from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.plain_editor import PlainEditor, plain_editor
from tests.scene import scene

pytestmark = pytest.mark.anyio

TEXT = "one\ntwo 😋\n"
EDIT = use("edit", path="src dir/a+b.txt", edits=[{"old": "two", "new": "TWO"}])
SPELLINGS = {
    "as it is": "file://{root}/src%20dir/a%2Bb.txt",
    "as little escaped as can be": "file://{root}/src%20dir/a+b.txt",
    "every letter escaped": "file://{root}/%73%72%63%20%64%69%72/%61%2b%62%2e%74%78%74",
    "by way of another folder": "file://{root}/other/../src%20dir/./a+b.txt",
    "through a link": "file://{root}/link/a+b.txt",
    "of this host": "file://localhost{root}/src%20dir/a+b.txt",
}


def opened(plain: PlainEditor, path: Path, uri: str) -> dict[str, object]:
    """The window calls the file by another name than we would."""
    params = plain.buffers.open(path)
    buffer = plain.buffers._buffers[uri] = plain.buffers[path]
    buffer.uri = params["textDocument"]["uri"] = uri
    return params


def made(home: Home) -> Path:
    for folder in ("src dir", "other"):
        (home.workspace / folder).mkdir()
    (home.workspace / "link").symlink_to("src dir")
    path = home.workspace / "src dir" / "a+b.txt"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_what_waits_is_marked_and_made_under_the_name_that_the_window_has_for_the_file(spelling: str) -> None:
    answers = [use("read", path="src dir/a+b.txt"), EDIT, say("Done.")]
    async with scene(InOrder(answers)) as (_, home), home.editor() as asker, plain_editor(home) as plain:
        path = made(home)
        uri = SPELLINGS[spelling].format(root=home.workspace)
        await plain.link.notify("textDocument/didOpen", opened(plain, path, uri))
        conversation = await asker.create(home.workspace)
        run_id = await asker.send(conversation, "Go.")
        await plain.link.wait_for(lambda: uri in plain.diagnostics)
        assert list(plain.diagnostics) == [uri]
        place = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 0}}
        assert "TWO" in (await plain.link.request("textDocument/hover", place))["contents"]["value"]
        await plain.choose(path, 1, "Allow once #1", uri=uri)
        await plain.link.wait_for(lambda: plain.buffers[path].edits)
        await asker.until_ended(conversation, run_id)
        (edit,) = [params for method, params in plain.buffers.asked if method == "workspace/applyEdit"]
        assert edit["edit"]["documentChanges"][0]["textDocument"]["uri"] == uri
        assert (plain.buffers[path].text, path.read_text()) == (TEXT.replace("two", "TWO"), TEXT)
