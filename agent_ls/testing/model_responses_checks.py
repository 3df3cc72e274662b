"""Why the Responses dialect of the scripted model refuses a request, each time with the reason.

Owns the checks that the real server makes: pairing of calls and outputs, seals of thoughts and what has to follow them,
empty text, images. Does not stream and holds no socket.
"""

from typing import Any, Final

from agent_ls.testing.model_checks import NAME, is_data_url, is_object, is_text, sealed, tools_fault, unknown_keys

KNOWN_KEYS: Final = frozenset({
    "model", "input", "instructions", "stream", "store", "include", "tools", "tool_choice", "parallel_tool_calls",
    "max_output_tokens", "prompt_cache_key", "reasoning", "temperature", "top_p", "text", "truncation", "metadata",
})  # fmt: skip
LONGEST_KEY: Final = 64


def fault(body: Any) -> str | None:
    """Why a real server would answer 400; None if it would not."""
    if not isinstance(body, dict):
        return "the body is not a JSON object"
    if unknown := unknown_keys(body, KNOWN_KEYS):
        return unknown
    if not is_text(body.get("model")):
        return "model is missing"
    if "instructions" in body and not is_text(body["instructions"]):
        return "instructions must be a non-empty string"
    if len(body.get("prompt_cache_key", "")) > LONGEST_KEY:
        return "prompt_cache_key is too long"
    items = body.get("input")
    if not (isinstance(items, list) and items):
        return "input is empty"
    tools = body.get("tools")
    if any(not isinstance(tool, dict) or tool.get("type") != "function" for tool in tools or ()):
        return "a tool is not of type function"
    return tools_fault(tools, "parameters") or _items_fault(items)


def is_assistants(item: dict[str, Any]) -> bool:
    return item["type"] in {"reasoning", "function_call"} or item.get("role") == "assistant"


def text_of(item: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in item["content"] if part["type"] in {"input_text", "output_text"})


def _items_fault(items: list[Any]) -> str | None:
    owed: list[str] = []  # call ids that wait for their output
    seen: set[str] = set()
    before = ""  # type of the item before
    for place, item in enumerate(items):
        where = f"input[{place}]"
        kind = item.get("type") if isinstance(item, dict) else None
        if before == "reasoning" and not (isinstance(item, dict) and is_assistants(item)):
            return f"{where}: a reasoning item was given without the item that has to follow it"
        match kind:
            case "message":
                missing = f"no tool output for function call {', '.join(owed)}"
                problem = missing if owed and not is_assistants(item) else _message_fault(item)
            case "function_call":
                problem = (
                    "a call after outputs of others" if before.endswith("output") and owed else _call_fault(item, seen)
                )
                owed = owed if problem else [*owed, item["call_id"]]
            case "function_call_output":
                problem = _output_fault(item, owed)
            case "reasoning":
                problem = _reasoning_fault(item)
            case _:
                problem = f"unknown type {kind!r}"
        if problem:
            return f"{where}: {problem}"
        before = str(kind)
    if owed:
        return f"no tool output for function call {', '.join(owed)}"
    return "the last item is the assistant's own" if is_assistants(items[-1]) else None


def _message_fault(item: dict[str, Any]) -> str | None:
    if set(item) != {"type", "role", "content"}:
        return f"unknown or missing fields: {', '.join(sorted(item))}"
    content, role = item["content"], item["role"]
    if not (isinstance(content, list) and content):
        return "content has no parts"
    for part in content:
        match part:
            case {"type": "input_text", "text": text} if role == "user" and is_text(text):
                pass
            case {"type": "output_text", "text": text} if role == "assistant" and is_text(text):
                pass
            case {"type": "input_image", "image_url": url} if role == "user" and is_data_url(url):
                pass
            case _:
                return f"bad part of type {part.get('type') if isinstance(part, dict) else part!r} for {role!r}"
    return None


def _call_fault(item: dict[str, Any], seen: set[str]) -> str | None:
    match item:
        case {"call_id": str(id), "name": str(name), "arguments": str(arguments)}:
            if not NAME.fullmatch(id) or id in seen:
                return f"call_id is repeated or illegal: {id!r}"
            if not NAME.fullmatch(name):
                return f"illegal function name {name!r}"
            seen.add(id)
            return None if is_object(arguments) else f"arguments of {id} are not a JSON object"
        case _:
            return "a function_call lacks call_id, name or arguments"


def _output_fault(item: dict[str, Any], owed: list[str]) -> str | None:
    call_id = item.get("call_id")
    if call_id not in owed:
        return f"no tool call found for function call output with call_id {call_id!r}"
    owed.remove(call_id)
    return None if is_text(item.get("output")) else "output must be a non-empty string"


def _reasoning_fault(item: dict[str, Any]) -> str | None:
    match item:
        case {"summary": list(summary), "encrypted_content": seal}:
            text = "".join(part.get("text", "") for part in summary)
            return None if seal == sealed(text) else "the encrypted content could not be verified"
        case _:
            return "an item that is not stored needs its encrypted content"
