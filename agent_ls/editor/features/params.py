"""Parameters of standard requests: what they name, and the refusal where they do not.

Owns reading them. Does not own what is answered.
"""

from typing import Any

from agent_ls.core.errors import Code, Refusal, Refused

Json = dict[str, Any]


def uri_of(params: Json) -> str:
    uri = named(params)
    if uri is None:
        raise bad("`textDocument` has to name a document by its `uri`.")
    return uri


def named(params: Json) -> str | None:
    document = params.get("textDocument")
    uri = document.get("uri") if isinstance(document, dict) else None
    return uri if isinstance(uri, str) else None


def able(capabilities: Any, *path: str) -> Any:
    """What a client declares at a place of its capabilities; None where it says nothing there."""
    for name in path:
        capabilities = capabilities.get(name) if isinstance(capabilities, dict) else None
    return capabilities


def bad(sentence: str) -> Refused:
    hint = "See the Language Server Protocol for the parameters of this method."
    return Refused(Refusal(Code.INVALID_PARAMS, sentence, hint))
