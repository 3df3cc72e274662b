"""Why the Messages dialect of the scripted model refuses a request, each time with the reason.

Owns the checks that the real server makes: order and pairing of calls and results, signatures, empty text, images,
marks for the cache. Does not stream and holds no socket.
"""

from typing import Any, Final

from agent_ls.testing.model_checks import NAME, PICTURE_TYPES, is_base64, is_text, sealed, tools_fault, unknown_keys

KNOWN_KEYS: Final = frozenset({
    "model", "messages", "max_tokens", "system", "stream", "tools", "tool_choice", "temperature", "top_p", "top_k",
    "stop_sequences", "thinking", "metadata", "service_tier", "output_config",
})  # fmt: skip
MOST_MARKS: Final = 4
SMALLEST_BUDGET: Final = 1024
THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
BLOCK_KEYS: Final = {
    "text": {"type", "text", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}


def fault(body: Any) -> str | None:
    """Why a real server would answer 400; None if it would not."""
    if not isinstance(body, dict):
        return "the body is not a JSON object"
    if unknown := unknown_keys(body, KNOWN_KEYS):
        return unknown
    if not is_text(body.get("model")):
        return "model is missing"
    if not (isinstance(body.get("max_tokens"), int) and body["max_tokens"] > 0):
        return "max_tokens is missing"
    messages = body.get("messages")
    if not (isinstance(messages, list) and messages):
        return "messages is empty"
    return (
        _system_fault(body.get("system"))
        or tools_fault(body.get("tools"), "input_schema")
        or _messages_fault(messages)
        or _thinking_fault(body)
        or _marks_fault(body)
    )


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The content of a message or result as blocks, however it is written."""
    content = message.get("content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _system_fault(system: Any) -> str | None:
    for block in blocks_of({"content": system if system is not None else []}):
        if problem := _block_fault(block, {"text"}):
            return f"system: {problem}"
    return None


def _messages_fault(messages: list[Any]) -> str | None:
    owed: list[str] = []  # ids of calls whose results have to come first in the next message
    seen: set[str] = set()
    for place, message in enumerate(messages):
        where = f"messages.{place}"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in {"user", "assistant"} or set(message) != {"role", "content"}:
            return f"{where}: unknown role {role!r}, or fields that a message does not have"
        if not place and role != "user":
            return f"{where}: the first message has to be the user's"
        if not isinstance(message["content"], str | list) or not message["content"]:
            return f"{where}: content is empty"
        problem = _user_fault(message, owed) if role == "user" else _assistant_fault(message, seen, owed)
        if problem:
            return f"{where}: {problem}"
        owed = [block["id"] for block in blocks_of(message) if role == "assistant" and block["type"] == "tool_use"]
    return "the conversation has to end with a message of the user" if messages[-1]["role"] != "user" else None


def _user_fault(message: dict[str, Any], owed: list[str]) -> str | None:
    open_ids = list(owed)
    others = False
    for block in blocks_of(message):
        if problem := _block_fault(block, {"text", "image", "tool_result"}):
            return problem
        if block["type"] != "tool_result":
            others = True
        elif block["tool_use_id"] not in open_ids:
            return f"unexpected tool_use_id in a tool_result: {block['tool_use_id']!r} is no call of the message before"
        elif others:
            return "tool_result blocks have to come first"
        else:
            open_ids.remove(block["tool_use_id"])
    return f"tool_use ids without tool_result right after: {', '.join(open_ids)}" if open_ids else None


def _assistant_fault(message: dict[str, Any], seen: set[str], owed: list[str]) -> str | None:
    if owed:
        return f"tool_use ids without tool_result right after: {', '.join(owed)}"
    for block in blocks_of(message):
        if problem := _block_fault(block, {"text", "tool_use", *THOUGHTS}):
            return problem
        if block["type"] == "tool_use":
            if block["id"] in seen:
                return f"tool_use ids must be unique: {block['id']!r}"
            seen.add(block["id"])
    return "a message of nothing but thoughts" if all(b["type"] in THOUGHTS for b in blocks_of(message)) else None


def _block_fault(block: Any, allowed: set[str]) -> str | None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in allowed:
        return f"a block of type {kind!r} may not stand here"
    if unknown := set(block) - BLOCK_KEYS[kind]:
        return f"{kind}: extra inputs are not permitted: {', '.join(sorted(unknown))}"
    match block:
        case {"type": "text", "text": text}:
            return None if is_text(text) else "text content blocks must be non-empty"
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data, **rest}}:
            return None if kind in PICTURE_TYPES and is_base64(data) and not rest else "image: bad source"
        case {"type": "thinking", "thinking": str(text), "signature": signature}:
            return None if signature == sealed(text) else "thinking: invalid signature, blocks cannot be modified"
        case {"type": "redacted_thinking", "data": str(data)}:
            return None if data.startswith(sealed("")[:7]) else "redacted_thinking: invalid data"
        case {"type": "tool_use", "id": str(id), "name": str(name), "input": dict()}:
            return (
                None
                if NAME.fullmatch(id) and NAME.fullmatch(name)
                else f"tool_use: illegal id or name: {id!r} {name!r}"
            )
        case {"type": "tool_result", "tool_use_id": str()}:
            return _result_fault(block)
        case _:
            return f"{kind}: a field is missing or of the wrong type"


def _result_fault(result: dict[str, Any]) -> str | None:
    for block in blocks_of(result):
        if problem := _block_fault(block, {"text", "image"}):
            return f"tool_result: {problem}"
        if result.get("is_error") and block["type"] != "text":
            return "tool_result: all content must be text if is_error is true"
    return None


def _thinking_fault(body: dict[str, Any]) -> str | None:
    match body.get("thinking"):
        case None | {"type": "disabled"} | {"type": "adaptive"}:
            return None
        case {"type": "enabled", "budget_tokens": int(budget)}:
            if not SMALLEST_BUDGET <= budget < body["max_tokens"]:
                return "thinking.budget_tokens must be at least 1024 and less than max_tokens"
        case _:
            return "thinking: unknown type"
    chain: list[dict[str, Any]] = []
    for message in reversed(body["messages"]):
        if message["role"] == "assistant":
            chain.append(message)
        elif not any(block["type"] == "tool_result" for block in blocks_of(message)):
            break
    if chain and blocks_of(chain[-1])[0]["type"] not in THOUGHTS:
        return "expected thinking or redacted_thinking: with thinking on, a chain of calls has to begin with it"
    return None


def _marks_fault(body: dict[str, Any]) -> str | None:
    places = [*blocks_of({"content": body.get("system", [])}), *body.get("tools", ())]
    for message in body["messages"]:
        places += blocks_of(message)
    marks = [place["cache_control"] for place in places if "cache_control" in place]
    if any(mark != {"type": "ephemeral"} for mark in marks):
        return "cache_control: unknown type"
    return f"at most {MOST_MARKS} blocks may have cache_control" if len(marks) > MOST_MARKS else None
