"""`agent/provider/*`, `agent/model/*`, `agent/context/*`: who can answer, and what it costs."""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core import compaction, delegation, sizes
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Usage
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk, ProviderInfo
from agent_ls.editor.window import Window
from agent_ls.ports.provider import Failure
from agent_ls.wire import models

RUNS_SHOWN: Final = 50


async def list_(desk: Desk, window: Window, params: models.Params) -> Answer:
    return {"providers": [_view(info) for info in desk.catalog.providers()]}


async def list_models(desk: Desk, window: Window, params: models.ListModels) -> Answer:
    """What each server offers; one that does not answer is listed with its configured model and the reason."""
    wanted = [info for info in desk.catalog.providers() if params.provider in (None, info.name)]
    if params.provider is not None and not wanted:
        return Refusal(Code.NOT_FOUND, f"There is no provider `{params.provider}`.", "See `agent-ls doctor`.")
    found: list[dict[str, Any]] = []
    for info in wanted:
        found += await _models(desk, info)
    return {"models": found}


async def context_status(desk: Desk, window: Window, params: models.OfConversation) -> Answer:
    state = await desk.registry.state(params.conversation_id)
    if isinstance(state, Refusal):
        return state
    last, total = _newest(state), delegation.usage(state)
    shown: dict[str, Any] = {
        "usedTokens": sizes.used(state),
        **_use(total),
        "lastStep": _use(last),
        "runs": [_of_run(state, run) for run in _runs(state)[-RUNS_SHOWN:]],
    }
    beneath = delegation.handed_usage(state)
    if beneath != Usage():
        shown["subagents"] = _use(beneath)
    sent = total.input_tokens + total.cache_read_tokens + total.cache_write_tokens
    if sent:
        shown["cacheHitRate"] = round(total.cache_read_tokens / sent, 4)
    return shown | _window(desk, state)


def _window(desk: Desk, state: ConversationState) -> dict[str, Any]:
    """What the model takes, and when the conversation is compacted; nothing where nobody knows."""
    policy = desk.services.compaction
    window = desk.services.window(state.conversation.provider, state.conversation.model)
    if window is None:
        return {}
    thresholds = {"reserve": compaction.reserve(window), "keepRecent": compaction.target(window, policy)}
    if policy.enabled:
        thresholds["compactAt"] = compaction.limit(window, policy)
    return {"windowTokens": window, "thresholds": thresholds}


def _runs(state: ConversationState) -> list[Run]:
    return sorted((run for run in state.runs.values() if run.started_at), key=lambda run: run.ordinal)


def _newest(state: ConversationState) -> Usage:
    """Of the newest step that the provider counted."""
    attempts = sorted(state.attempts.values(), key=lambda attempt: (state.runs[attempt.run_id].ordinal, attempt.n))
    return next((attempt.last_usage for attempt in reversed(attempts) if attempt.last_usage), Usage())


def _of_run(state: ConversationState, run: Run) -> dict[str, Any]:
    steps = sum(attempt.steps for attempt in state.attempts.values() if attempt.run_id == run.id)
    used = _use(delegation.usage(state, run.id))
    return {"runId": run.id, "ordinal": run.ordinal, "status": str(run.status), "steps": steps, **used}


def _use(usage: Usage) -> dict[str, Any]:
    counts = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
    }
    return counts if usage.cost_usd is None else {**counts, "costUsd": usage.cost_usd}


async def _models(desk: Desk, info: ProviderInfo) -> list[dict[str, Any]]:
    known = [info.model] if info.model else []
    if not info.available:
        return [{"id": m, "provider": info.name, "available": False, "reason": info.reason} for m in known]
    offered = await desk.catalog.models(info.name)
    if isinstance(offered, Failure):
        reason = offered.message
        return [{"id": m, "provider": info.name, "available": False, "reason": reason} for m in known]
    names = dict.fromkeys([*known, *offered])
    return [{"id": name, "provider": info.name, "available": name in offered or not offered} for name in names]


def _view(info: ProviderInfo) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": info.name,
        "kind": info.kind,
        "available": info.available,
        "model": info.model,
        "reason": info.reason,
        "capabilities": {"interrupt": True, "durableApprovals": True, "contextWindow": info.context_window},
    }
    return {name: value for name, value in shown.items() if value is not None}


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/provider/list": list_,
    "agent/model/list": list_models,
    "agent/context/status": context_status,
}
