"""A connection to a model server that broke or never was, and the sentence for the person.

Owns what can be told apart. Does not know by which library bytes are moved (channel).
"""

from enum import Enum, auto

from agent_ls.adapters.models import failures
from agent_ls.adapters.models.failures import Spoken
from agent_ls.ports.provider import Cause, Failure


class Trouble(Enum):
    NO_ADDRESS = auto()
    CONNECT_TIMEOUT = auto()
    CERTIFICATE = auto()
    UNREACHED = auto()
    BROKE = auto()


class Broken(Exception):
    """The text is the library's own words."""

    def __init__(self, trouble: Trouble, words: str) -> None:
        super().__init__(words)
        self.trouble = trouble


def explained(broken: Broken, spoken: Spoken, *, connect_s: float) -> Failure:
    """The failure behind it, when no byte of an answer had come."""
    detail = failures.shorten(spoken, str(broken))
    match broken.trouble:
        case Trouble.CONNECT_TIMEOUT:
            return failures.timeout(spoken, f"could not be reached within {connect_s:g} s")
        case Trouble.NO_ADDRESS:
            message = (
                f"base_url of provider {spoken.provider!r} cannot be used: {spoken.address!r}."
                " It has to look like http://host:port/v1; check the headers in config.toml too."
            )
            return Failure(Cause.INVALID, message, detail=detail)
        case Trouble.CERTIFICATE:
            message = (
                f"The certificate of {spoken.address} is not trusted here. Add its authority to the system's trust"
                " store, or name it in SSL_CERT_FILE."
            )
            return Failure(Cause.NETWORK, message, detail=detail)
        case Trouble.UNREACHED:
            message = (
                f"No server answers at {spoken.address}. Start it, or correct base_url of provider {spoken.provider!r};"
                " `agent-ls doctor` shows what can be reached."
            )
            return Failure(Cause.NETWORK, message, detail=detail)
        case Trouble.BROKE:
            message = f"The connection to {spoken.address} broke before an answer came. Send the message again."
            return Failure(Cause.NETWORK, message, detail=detail)


def words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
