"""Which conversation is meant: by its id, by the beginning of one, or the newest of the current folder.

Owns nothing but the search; whether there is such a conversation is for the daemon to say.
"""

from typing import Any, Final

from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.places import here, path_uri

WHICH: Final = "its id or the beginning of it; else the newest one of this folder"
_WHOLE: Final = len("c0123456789abcdef")


def named(client: Client, given: str) -> str:
    """The whole id. One that begins none is left as it is."""
    if len(given) >= _WHOLE or "." in given:
        return given
    found = [str(held["id"]) for held in _listed(client) if str(held["id"]).startswith(given)]
    if given in found or not found:
        return given
    if len(found) > 1:
        hint = f"Say more of it: {', '.join(sorted(found)[:5])}"
        raise ClientError("invalid_params", f"{len(found)} conversations begin with `{given}`.", hint)
    return found[0]


def named_or_newest(client: Client, given: str | None) -> str:
    if given:
        return named(client, given)
    workspace = this_folder()
    for held in _listed(client, workspace=workspace):
        if held["workspace"] == workspace:
            return str(held["id"])
    raise ClientError(
        "not_found",
        "There is no conversation in this folder yet.",
        "`agent-ls conversations` lists those of all folders.",
    )


def this_folder() -> str:
    """The URI of the current folder."""
    folder = here()
    if folder is None:
        gone = "The folder that you are in has been removed."
        raise ClientError("not_found", gone, "Go to one that is there: cd PATH")
    return path_uri(folder)


def _listed(client: Client, **narrowed: str) -> list[dict[str, Any]]:
    """The newest first."""
    page: dict[str, Any] = client.call("agent/conversation/list", {"limit": 200, **narrowed})
    return page.get("conversations") or []
