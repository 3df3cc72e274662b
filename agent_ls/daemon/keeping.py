"""An "always, in this workspace" that was answered: the rule that was shown is kept.

Owns which answers keep which rule beyond their conversation. Does not own where it lies (adapters.host.rule_files) nor
rules of a conversation, which are part of the answer's own commit (core.respond).
"""

import logging

from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Refusal
from agent_ls.core.kept_rules import Kept
from agent_ls.core.request import Decision, Request
from agent_ls.core.respond import chosen_rule
from agent_ls.core.rules import Ruling
from agent_ls.core.uris import path_of
from agent_ls.ports.rules import RuleStore, Said

log = logging.getLogger(__name__)


class Keeper:
    def __init__(self, store: RuleStore) -> None:
        self._store = store

    def on_answer(self, request: Request, conversation: Conversation) -> None:
        rule = chosen_rule(request, scope=request.scope, option_id=request.option_id)
        root = path_of(conversation.workspace)
        if request.decision is not Decision.ALLOW or request.scope != "workspace" or rule is None or not root:
            return
        kept = Kept(effect=Ruling.ALLOW, pattern=rule, by=request.decided_by or "you", at=request.decided_at or "")
        done = self._store.add(root, kept, Said(request.id, rule))
        if isinstance(done, Refusal):
            log.warning("the rule of request #%d was not kept: %s", request.number, done.message)
