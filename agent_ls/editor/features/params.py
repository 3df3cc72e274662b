"""Parameters of standard requests: what they name, and the refusal where they do not.

Owns reading them. Does not own what is answered.
"""

from typing import Any

from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.editor.given import document_uri

Json = dict[str, Any]


def uri_of(params: Json) -> str:
    uri = document_uri(params)
    if uri is None:
        raise bad("`textDocument` has to name a document by its `uri`.")
    return uri


def bad(sentence: str) -> Refused:
    hint = "See the Language Server Protocol for the parameters of this method."
    return Refused(Refusal(Code.INVALID_PARAMS, sentence, hint))
