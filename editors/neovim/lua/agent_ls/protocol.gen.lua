---@meta
-- Made by `python -m agent_ls.wire.schema docs/` from agent_ls/wire/methods.py. Do not edit.

--- Kept for one conversation, for you in one workspace, or for you everywhere.
---@class agent_ls.wire.AddRule
---@field commandId string
---@field rule string
---@field effect 'allow'|'ask'|'deny'
---@field scope 'conversation'|'workspace'|'user'
---@field workspace? string
---@field conversationId? string

--- `full` is the digest of the whole text where it is too long for the transcript.
---@class agent_ls.wire.AssistantMessage
---@field text string
---@field model? string
---@field usage? agent_ls.wire.Usage
---@field full? string

--- `after`: the seq that this window has already; events after it follow instead of a new snapshot.
---@class agent_ls.wire.Attach
---@field conversationId string
---@field after? integer
---@field backfill? agent_ls.wire.Backfill

--- Answered first; events after `seq` follow. Not a `snapshot`: what came after `after` follows as events.
---
--- `draft`: what was written and not sent, in whichever window.
---@class agent_ls.wire.Attached
---@field conversation agent_ls.wire.ConversationView
---@field items agent_ls.wire.Item[]
---@field requests agent_ls.wire.Request[]
---@field run? agent_ls.wire.Run
---@field queue agent_ls.wire.Run[]
---@field locks agent_ls.wire.Lock[]
---@field shells agent_ls.wire.ShellView[]
---@field windows agent_ls.wire.Presence[]
---@field draft? string
---@field streams agent_ls.wire.StreamView[]
---@field seq integer
---@field snapshot boolean
---@field olderCursor? string

--- `steps` counts finished steps; `read_through` is the ledger seq up to which its next step reads.
---
--- `last_stop` is the stop reason of the newest step; `usage` the sum over steps, `last_usage` the newest step's.
--- `provider` and `model` are those it began with, "" in ledgers of before: a change counts from the next attempt on.
--- `answers` names the person's messages that it has answered.
---@class agent_ls.wire.Attempt
---@field id string
---@field runId string
---@field conversationId string
---@field n integer
---@field reason agent_ls.wire.Reason
---@field status agent_ls.wire.AttemptStatus
---@field readThrough integer
---@field epoch integer
---@field createdAt string
---@field steps? integer
---@field lastStop? string
---@field usage? agent_ls.wire.Usage
---@field lastUsage? agent_ls.wire.Usage
---@field answers? string[]
---@field provider? string
---@field model? string

---@alias agent_ls.wire.AttemptStatus 'pending'|'running'|'completed'|'interrupted'|'failed'|'cancelled'|'superseded'

---@class agent_ls.wire.Backfill
---@field items? integer

--- `data` is base64; `size` that of the whole blob in bytes.
---@class agent_ls.wire.BlobPart
---@field data string
---@field offset integer
---@field size integer

--- One piece of a message: `text` {text}, `image` {mime_type, data: base64} or `file` {uri, range?}.
---@class agent_ls.wire.Block
---@field type string
---@field text? string
---@field mimeType? string
---@field data? string
---@field uri? string
---@field range? table<string, any>

--- Payload of a tool call, command or file change. `call_id` is ours; `native_id` what the model called it.
---
--- `record` is the digest of what is kept of a change to files (core.hunks), `reviewed` what the person has decided on
--- its hunks, by their number. `original` is the model's own input where the person has changed it. `stop`: the person
--- wants this call to end, and the run to go on. `again`: the person had it run again, and nobody knows whether it had
--- run before. `walled`: what came of it in the sandbox, which is why it is to run outside or not at all (walls.py).
---@class agent_ls.wire.Call
---@field callId string
---@field tool string
---@field input table<string, any>
---@field state? agent_ls.wire.CallState
---@field nativeId? string
---@field title? string
---@field uri? string
---@field diff? string
---@field cwd? string
---@field keys? string[]
---@field effect? string
---@field replay? string
---@field digest? string
---@field requestId? string
---@field decidedBy? string
---@field decidedFrom? string
---@field rule? string
---@field rawArguments? string
---@field inputBlob? string
---@field before? string
---@field after? string
---@field record? string
---@field reviewed? table<string, string>
---@field original? table<string, any>
---@field originalBlob? string
---@field stop? agent_ls.wire.Interruption
---@field again? boolean
---@field walled? agent_ls.wire.ToolResult
---@field result? agent_ls.wire.ToolResult

---@alias agent_ls.wire.CallState 'proposed'|'awaiting_approval'|'approved'|'denied'|'started'|'finished'|'not_run'

--- `hunks` that were decided now, `left` those that could not be undone; `note` says what became of the file.
---@class agent_ls.wire.ChangeDecided
---@field seq integer
---@field hunks string[]
---@field left string[]
---@field note? string

---@class agent_ls.wire.ChangeList
---@field changes agent_ls.wire.FileReview[]

--- `before` and `after` are the whole texts, the hashes those of the file, "" where it is not there.
---@class agent_ls.wire.ChangePreview
---@field uri string
---@field path string
---@field diff string
---@field before string
---@field after string
---@field beforeHash string
---@field afterHash string

---@class agent_ls.wire.CheckpointDiff
---@field files agent_ls.wire.FileChanges[]

---@class agent_ls.wire.CheckpointList
---@field checkpoints table<string, any>[]

---@alias agent_ls.wire.Code 'already_decided'|'not_resumable'|'digest_mismatch'|'too_soon'|'unknown_request'|'stale_epoch'|'queue_held'|'queue_full'|'command_conflict'|'not_found'|'unsupported'|'unauthorized'|'conversation_busy'|'provider_unavailable'|'provider_error'|'rate_limited'|'context_overflow'|'permission_denied'|'outside_workspace'|'stale_document'|'ledger_unavailable'|'disk_full'|'schema_too_new'|'invalid_params'

---@class agent_ls.wire.CommandOnRun
---@field commandId string
---@field runId string

--- What a command would run as; `environment` holds only what changes, null where a name is taken away.
---@class agent_ls.wire.CommandPreview
---@field command string
---@field cwd string
---@field environment table<string, string|nil>

---@class agent_ls.wire.CompactConversation
---@field commandId string
---@field conversationId string
---@field instructions? string

--- A wish to compact that was noted and is not over; `id` is that of the effect that the ledger owes for it.
---@class agent_ls.wire.Compacting
---@field id string
---@field by string
---@field from string
---@field at string
---@field instructions? string

--- A summary that stands for older items in what a model is sent. The items themselves stay as they are.
---
--- `first_kept` is the first item that is still sent as it was (None: none is), `kept_from` the place from which on
--- items are; `summarized`: how many it stands for. `made_by`: `model`, or `digest` where it was put together from the
--- ledger because of `trouble`. `trigger`: limit, overflow or manual. `carried` is what was put in again beside it,
--- `messages` those of the person's that are repeated word for word (`answered`: they were done with). Tokens are
--- estimates of the whole request.
---@class agent_ls.wire.Compaction
---@field summary string
---@field summarized integer
---@field firstKept? string
---@field keptFrom? integer
---@field madeBy? string
---@field model? string
---@field trigger? string
---@field mode? string
---@field instructions? string
---@field carried? string
---@field messages? string[]
---@field answered? boolean
---@field tokensBefore? integer
---@field tokensAfter? integer
---@field trouble? string
---@field usage? agent_ls.wire.Usage

--- What an editor attached to a message, as it was when sent.
---@class agent_ls.wire.ContextItem
---@field type string
---@field uri? string
---@field range? table<string, any>
---@field text? string
---@field data? any
---@field blob? string

--- `usedTokens` estimates the next request, the rest is of the whole conversation, its subagents included.
---
--- `subagents` is what they had of it, `runs` the newest ones. `thresholds` in tokens: `compactAt` (none where that is
--- switched off), `reserve` and `keepRecent`. `cacheHitRate`: the share of all that was sent which a cache had.
---@class agent_ls.wire.ContextUse
---@field usedTokens integer
---@field inputTokens integer
---@field outputTokens integer
---@field lastStep agent_ls.wire.Use
---@field runs agent_ls.wire.RunUse[]
---@field subagents? agent_ls.wire.Use
---@field windowTokens? integer
---@field thresholds? table<string, integer>
---@field costUsd? number
---@field cacheReadTokens integer
---@field cacheHitRate? number

--- `workspace` is a root URI on the machine `host` (none where one machine has the ledger for itself).
---
--- `rules` are what the person allowed or denied for this conversation. `compacting` is a wish that is not over yet:
--- where no run goes on, what is said meanwhile waits in the queue.
---@class agent_ls.wire.Conversation
---@field id string
---@field workspace string
---@field title string
---@field provider string
---@field model string
---@field mode agent_ls.wire.Mode
---@field createdAt string
---@field updatedAt string
---@field queueHeld? boolean
---@field archived? boolean
---@field parentId? string
---@field relation? string
---@field delegated? agent_ls.wire.Delegated
---@field forkedFrom? agent_ls.wire.Forked
---@field rules? table<string, any>[]
---@field trusted? boolean
---@field host? string
---@field compacting? agent_ls.wire.Compacting

---@class agent_ls.wire.ConversationList
---@field conversations agent_ls.wire.ConversationSummary[]
---@field nextCursor? string

---@alias agent_ls.wire.ConversationStatus 'idle'|'queued'|'running'|'waiting'|'stopping'

---@class agent_ls.wire.ConversationSummary
---@field id string
---@field workspace string
---@field title string
---@field provider string
---@field model string
---@field mode agent_ls.wire.Mode
---@field createdAt string
---@field updatedAt string
---@field queueHeld? boolean
---@field archived? boolean
---@field parentId? string
---@field relation? string
---@field delegated? agent_ls.wire.Delegated
---@field forkedFrom? agent_ls.wire.Forked
---@field rules? table<string, any>[]
---@field trusted? boolean
---@field host? string
---@field compacting? agent_ls.wire.Compacting
---@field status agent_ls.wire.ConversationStatus
---@field pendingRequests integer
---@field lastText string

--- A conversation as a window sees it, with what follows from its runs and requests.
---@class agent_ls.wire.ConversationView
---@field id string
---@field workspace string
---@field title string
---@field provider string
---@field model string
---@field mode agent_ls.wire.Mode
---@field createdAt string
---@field updatedAt string
---@field queueHeld? boolean
---@field archived? boolean
---@field parentId? string
---@field relation? string
---@field delegated? agent_ls.wire.Delegated
---@field forkedFrom? agent_ls.wire.Forked
---@field rules? table<string, any>[]
---@field trusted? boolean
---@field host? string
---@field compacting? agent_ls.wire.Compacting
---@field status agent_ls.wire.ConversationStatus

---@class agent_ls.wire.ConversationsChanged
---@field conversations agent_ls.wire.ConversationSummary[]
---@field deleted? string[]

---@class agent_ls.wire.Conversed
---@field conversation agent_ls.wire.ConversationView
---@field seq integer

--- `allowAuto`: the person said so in this very command, which lets mode `auto` be chosen.
---@class agent_ls.wire.CreateConversation
---@field commandId string
---@field workspace string
---@field title? string
---@field provider? string
---@field model? string
---@field mode? agent_ls.wire.Mode
---@field allowAuto? boolean

--- `drain` is null while the daemon serves; `instances` are the newest daemons that held this ledger; `mcp` the
--- servers of tools, one a workspace: name, state, how many tools.
---@class agent_ls.wire.DaemonStatus
---@field pid integer
---@field version string
---@field bootId string
---@field instanceId string
---@field uptimeS number
---@field connections any
---@field claims any
---@field runs any
---@field requests any
---@field shells any
---@field effects any
---@field ledger table<string, any>
---@field drain any
---@field instances table<string, any>[]
---@field config table<string, any>
---@field janitor table<string, any>
---@field mcp table<string, any>[]

--- One hunk, or without `hunkId` the whole file. `hash`: of the file that the person looked at, as listed.
---@class agent_ls.wire.DecideChange
---@field commandId string
---@field conversationId string
---@field uri string
---@field hunkId? string
---@field hash? string

---@alias agent_ls.wire.Decision 'allow'|'deny'|'answer'|'cancel'

--- What a subagent was started with: by which call, for what, and which conversations stand above it, root first.
---
--- `tools`: those that it may have, None for all that its parent has; `instructions` of the agent that it is.
---@class agent_ls.wire.Delegated
---@field itemId string
---@field task string
---@field ancestors string[]
---@field agent? string
---@field instructions? string
---@field tools? string[]

---@class agent_ls.wire.DeleteConversation
---@field commandId string
---@field conversationId string

---@class agent_ls.wire.DiffCheckpoints
---@field conversationId string
---@field from? string
---@field to? string
---@field path? string

---@class agent_ls.wire.Draft
---@field conversationId string
---@field text string

---@class agent_ls.wire.Drafted
---@field conversationId string
---@field text string

---@class agent_ls.wire.Drain
---@field mode 'handoff'|'shutdown'
---@field deadlineMs? integer

---@class agent_ls.wire.Draining
---@field retryAfterMs integer
---@field reason string

---@class agent_ls.wire.ErrorData
---@field code agent_ls.wire.Code
---@field message string
---@field hint? string
---@field retryable boolean

--- `entity` is the whole of it after the fact; `seq` is gapless in its conversation.
---@class agent_ls.wire.Event
---@field seq integer
---@field at string
---@field kind agent_ls.wire.EventKind
---@field fact string
---@field entity agent_ls.wire.Conversation|agent_ls.wire.Run|agent_ls.wire.Attempt|agent_ls.wire.Item|agent_ls.wire.Request

---@alias agent_ls.wire.EventKind 'conversation'|'run'|'attempt'|'item'|'request'

--- Committed facts in order, no gap, no repeat; upsert each entity by its id.
---@class agent_ls.wire.Events
---@field conversationId string
---@field events agent_ls.wire.Event[]

--- What would happen to this call, and why; seen from a conversation, or from a workspace's defaults.
---@class agent_ls.wire.ExplainPermission
---@field tool string
---@field input table<string, any>
---@field workspace? string
---@field conversationId? string

---@class agent_ls.wire.Explanation
---@field effect 'allow'|'ask'|'deny'
---@field reason string
---@field decidedBy? string

---@class agent_ls.wire.ExportConversation
---@field conversationId string
---@field format? 'markdown'|'jsonl'

--- `text`, or the path of a file that holds it when it is long: whoever asked removes it.
---@class agent_ls.wire.Exported
---@field text? string
---@field path? string

---@class agent_ls.wire.FileChanges
---@field uri string
---@field hunks agent_ls.wire.Hunk[]

--- `hash` of the file that counts now, "" where there is none; `trouble`: why it cannot be looked at.
---@class agent_ls.wire.FileReview
---@field uri string
---@field path string
---@field hash string
---@field hunks agent_ls.wire.ReviewHunk[]
---@field trouble? string

--- Without `at` from the end, or as far as a run that goes on has come.
---@class agent_ls.wire.ForkConversation
---@field commandId string
---@field conversationId string
---@field at? agent_ls.wire.ForkPoint
---@field title? string

--- After which run or item; one of them.
---@class agent_ls.wire.ForkPoint
---@field runId? string
---@field checkpointId? string
---@field itemId? string

--- Where a fork began: in which conversation (`title` is what that was called then), after which item of it.
---
--- The fork has everything up to the place `through` from there; 0 and no item where nothing had been said.
--- `origin` is the conversation at the root of all forks between: what a provider has cached of it serves them all.
---@class agent_ls.wire.Forked
---@field conversationId string
---@field title string
---@field through integer
---@field origin string
---@field itemId? string
---@field runId? string

--- Something of a file that was not taken over.
---@class agent_ls.wire.GapView
---@field line integer
---@field what string

--- Context that came from the conversation `from_`, as the model is told of it; `omitted` names what was left out.
---
--- It covers that conversation up to the place `through`.
---@class agent_ls.wire.Handoff
---@field strategy string
---@field from string
---@field to string
---@field text string
---@field omitted? string[]
---@field through? integer

--- Sent at each connect and reconnect. Another `bootId` than before: a new daemon, attach again.
---@class agent_ls.wire.Hello
---@field protocol integer
---@field daemonVersion string
---@field bootId string
---@field pid integer

---@class agent_ls.wire.Hunk
---@field id string
---@field range table<string, any>
---@field old string
---@field new string
---@field state 'open'|'kept'|'undone'|'stale'

---@class agent_ls.wire.Hurried
---@field seq integer
---@field runId string

--- `path` of a file on the daemon's machine, absolute; `workspace` where the file names none.
---@class agent_ls.wire.ImportConversation
---@field commandId string
---@field path string
---@field workspace? string

--- `existed`: the file had been imported before, nothing was added. `gaps` are the first of `gapCount`.
---@class agent_ls.wire.ImportedView
---@field conversation agent_ls.wire.ConversationView
---@field seq integer
---@field events integer
---@field blobs integer
---@field interrupted integer
---@field existed boolean
---@field gaps agent_ls.wire.GapView[]
---@field gapCount integer

--- A stop that was noted: who asked, from where, when; `hold_queue` keeps queued runs waiting.
---@class agent_ls.wire.Interrupt
---@field by string
---@field from string
---@field at string
---@field holdQueue? boolean

---@class agent_ls.wire.InterruptRun
---@field commandId string
---@field runId string
---@field itemId? string
---@field holdQueue? boolean

--- Who stopped a run or a call, and from where.
---@class agent_ls.wire.Interruption
---@field by string
---@field from? string

--- One row of the transcript. `ord` is its place, unique in the conversation and never changed.
---@class agent_ls.wire.Item
---@field id string
---@field conversationId string
---@field runId string
---@field ord integer
---@field kind agent_ls.wire.ItemKind
---@field status agent_ls.wire.ItemStatus
---@field payload agent_ls.wire.UserMessage|agent_ls.wire.AssistantMessage|agent_ls.wire.Reasoning|agent_ls.wire.Call|agent_ls.wire.Notice|agent_ls.wire.Interruption|agent_ls.wire.Question|agent_ls.wire.Plan|agent_ls.wire.TodoList|agent_ls.wire.Subagent|agent_ls.wire.Compaction|agent_ls.wire.Handoff
---@field createdAt string
---@field attemptId? string
---@field stepId? string
---@field parentId? string
---@field updatedAt? string

---@alias agent_ls.wire.ItemKind 'user_message'|'assistant_message'|'reasoning'|'tool_call'|'command'|'file_change'|'approval'|'question'|'plan'|'todo_list'|'subagent'|'compaction'|'handoff'|'checkpoint'|'interrupt'|'error'|'notice'

---@class agent_ls.wire.ItemPage
---@field items agent_ls.wire.Item[]
---@field olderCursor? string

---@alias agent_ls.wire.ItemStatus 'pending'|'running'|'completed'|'failed'|'cancelled'|'interrupted'

--- A request to one of the window's own language servers.
---@class agent_ls.wire.LanguageRequest
---@field method string
---@field params? any

---@class agent_ls.wire.ListChanges
---@field conversationId string
---@field runId? string

---@class agent_ls.wire.ListCheckpoints
---@field conversationId string
---@field runId? string

---@class agent_ls.wire.ListConversations
---@field workspace? string
---@field query? string
---@field archived? boolean
---@field cursor? string
---@field limit? integer

---@class agent_ls.wire.ListModels
---@field provider? string

--- With `number`, that one request alone, whatever became of it.
---@class agent_ls.wire.ListRequests
---@field workspace? string
---@field conversationId? string
---@field number? integer

---@class agent_ls.wire.ListRules
---@field workspace? string
---@field conversationId? string

--- Of one conversation, or of all that this daemon holds.
---@class agent_ls.wire.ListShells
---@field conversationId? string

--- `waiting`: how many calls wait for it.
---@class agent_ls.wire.Lock
---@field key string
---@field conversationId string
---@field runId string
---@field itemId string
---@field since string
---@field waiting integer

---@class agent_ls.wire.LockList
---@field locks agent_ls.wire.Lock[]

--- `from`: the fork; `into`: the conversation that it was made of.
---@class agent_ls.wire.MergeBack
---@field commandId string
---@field from string
---@field into string

---@alias agent_ls.wire.Mode 'ask'|'edits'|'plan'|'auto'

---@class agent_ls.wire.ModelList
---@field models agent_ls.wire.ModelView[]

---@class agent_ls.wire.ModelView
---@field id string
---@field provider string
---@field available boolean
---@field reason? string
---@field contextWindow? integer
---@field capabilities? table<string, any>

--- Not over yet: the run is `stopping` until its end comes as an event, or was over before.
---@class agent_ls.wire.Noted
---@field seq integer
---@field runId string
---@field status agent_ls.wire.RunStatus|'stopping'

--- An empty object: the answer itself says that it is done.
---@class agent_ls.wire.Nothing

--- Payload of `notice` and `error`: a stable code and a sentence.
---
--- While the model is about to be asked again (`retrying`): `until` when, try `tried` of `most`.
---@class agent_ls.wire.Notice
---@field code string
---@field message string
---@field hint? string
---@field until? string
---@field tried? integer
---@field most? integer

---@class agent_ls.wire.OfConversation
---@field conversationId string

---@class agent_ls.wire.OfRequest
---@field requestId string

---@class agent_ls.wire.OlderItems
---@field conversationId string
---@field cursor string
---@field limit? integer

--- One way to answer. `rule` is what an "always" would store, shown before it is stored.
---@class agent_ls.wire.Option
---@field id string
---@field label string
---@field decision agent_ls.wire.Decision
---@field scope? string
---@field rule? string

--- Of what a subagent asks: its task, and the conversations above it, root first.
---@class agent_ls.wire.Origin
---@field conversationIds string[]
---@field task string
---@field agent? string

--- Base of all parameters. Built at first use: a start that needs three methods pays for three.
---@class agent_ls.wire.Params

--- What the agent wants to do, as the person last saw it. `state`: proposed, accepted, refused or dropped.
---@class agent_ls.wire.Plan
---@field markdown string
---@field state string
---@field callId? string

--- A window that follows a conversation. `number` tells windows of one daemon apart.
---@class agent_ls.wire.Presence
---@field number integer
---@field client string
---@field focused boolean
---@field windowId? string

--- The whole of what an answer would allow, and the digest that binds the answer to it.
---@class agent_ls.wire.Preview
---@field requestId string
---@field number integer
---@field digest string
---@field title string
---@field status agent_ls.wire.RequestStatus
---@field command? agent_ls.wire.CommandPreview
---@field change? agent_ls.wire.ChangePreview
---@field input? table<string, any>
---@field questions? table<string, any>[]

---@class agent_ls.wire.ProviderList
---@field providers agent_ls.wire.ProviderView[]

--- `reason` says why it is not available and what to do.
---@class agent_ls.wire.ProviderView
---@field id string
---@field kind string
---@field available boolean
---@field model? string
---@field reason? string
---@field capabilities? table<string, any>

---@class agent_ls.wire.Question
---@field questions table<string, any>[]
---@field answers? any
---@field callId? string

--- `runId` of the run that was changed, `queueHeld` after `hold` and `release`.
---@class agent_ls.wire.QueueUpdated
---@field seq integer
---@field runId? string
---@field queueHeld? boolean

---@class agent_ls.wire.ReadBlob
---@field digest string
---@field offset? integer
---@field limit? integer

---@alias agent_ls.wire.Reason 'initial'|'steering_restart'|'retry'|'recovery'

--- `raw` is the provider's own block, replayed byte for byte to the provider and model that made it; `full` the
--- digest of that block where it is too large for the transcript.
---@class agent_ls.wire.Reasoning
---@field text string
---@field provider? string
---@field model? string
---@field raw? table<string, any>
---@field full? string

--- `key` as the list names it.
---@class agent_ls.wire.ReleaseLock
---@field commandId string
---@field key string

--- One that `agent/permission/list` shows with an id.
---@class agent_ls.wire.RemoveRule
---@field commandId string
---@field ruleId string

--- `digest` binds an approval to what was shown; `card` is what the person is shown, complete.
---@class agent_ls.wire.Request
---@field id string
---@field number integer
---@field conversationId string
---@field runId string
---@field itemId string
---@field kind agent_ls.wire.RequestKind
---@field title string
---@field options agent_ls.wire.Option[]
---@field digest string
---@field status agent_ls.wire.RequestStatus
---@field createdAt string
---@field tool? string
---@field input? table<string, any>
---@field card? table<string, any>
---@field questions? table<string, any>[]
---@field origin? agent_ls.wire.Origin
---@field decision? agent_ls.wire.Decision
---@field scope? string
---@field optionId? string
---@field reason? string
---@field answers? any
---@field decidedBy? string
---@field decidedFrom? string
---@field decidedAt? string

---@alias agent_ls.wire.RequestKind 'approval'|'question'|'plan'

---@class agent_ls.wire.RequestList
---@field requests agent_ls.wire.Request[]

---@alias agent_ls.wire.RequestStatus 'pending'|'responding'|'resolved'|'expired'|'cancelled'

--- `pending` counts the whole daemon, `requests` are those that this window should show.
---@class agent_ls.wire.RequestsChanged
---@field pending integer
---@field requests agent_ls.wire.Request[]

---@class agent_ls.wire.Respond
---@field commandId string
---@field requestId string
---@field digest string
---@field decision agent_ls.wire.Decision
---@field scope? 'once'|'conversation'|'workspace'
---@field optionId? string
---@field input? table<string, any>
---@field reason? string
---@field answers? any

---@class agent_ls.wire.Responded
---@field seq integer
---@field status agent_ls.wire.RequestStatus

---@class agent_ls.wire.RestoreCheckpoint
---@field commandId string
---@field checkpointId string
---@field dryRun? boolean
---@field paths? string[]

---@class agent_ls.wire.Restored
---@field restored string[]
---@field conflicts string[]

---@alias agent_ls.wire.ResultStatus 'ok'|'error'|'denied'|'timeout'|'interrupted'|'unknown'|'not_run'

---@class agent_ls.wire.Resync
---@field conversationId string

--- The model is asked again at `until`; `item_id` is the notice that shows it.
---@class agent_ls.wire.RetryWait
---@field until string
---@field itemId string

---@class agent_ls.wire.Reveal
---@field uri string
---@field range? table<string, any>

--- Whole lines. `range`: where it stands in the text as this window has it. `cut`: a text too long to be told.
---@class agent_ls.wire.ReviewHunk
---@field id string
---@field range table<string, any>
---@field old string
---@field new string
---@field state 'open'|'kept'|'undone'|'stale'
---@field itemId string
---@field runId string
---@field cut? boolean

---@class agent_ls.wire.Rollback
---@field commandId string
---@field conversationId string
---@field runId string
---@field dryRun? boolean

---@class agent_ls.wire.RolledBack
---@field restored string[]
---@field conflicts string[]
---@field runs string[]

---@class agent_ls.wire.Rule
---@field id? string
---@field effect 'allow'|'ask'|'deny'
---@field rule string
---@field scope string
---@field origin string

---@class agent_ls.wire.RuleList
---@field rules agent_ls.wire.Rule[]

--- `content` is the message; the user item carries it from the start on. `position` orders the queue.
---
--- `steers` have been taken and not yet joined. `plan_id` is the item of the plan that it carries out.
--- `retries` counts waits of all attempts, `retry` is one that goes on; `tried` are those that still count against the
--- budget, as of `tried_at` steps that were answered (wait.py). `at_once`: it starts as soon as nothing else
--- runs, past a held queue. `retry_of` names the run whose input it asks again, `supersedes` the one whose place it
--- takes.
---@class agent_ls.wire.Run
---@field id string
---@field conversationId string
---@field ordinal integer
---@field status agent_ls.wire.RunStatus
---@field createdAt string
---@field content? agent_ls.wire.Block[]
---@field context? agent_ls.wire.ContextItem[]
---@field position? integer
---@field userItemId? string
---@field activeAttemptId? string
---@field startedAt? string
---@field endedAt? string
---@field interrupt? agent_ls.wire.Interrupt
---@field steers? agent_ls.wire.Steer[]
---@field retries? integer
---@field tried? integer
---@field triedAt? integer
---@field retry? agent_ls.wire.RetryWait
---@field atOnce? boolean
---@field retryOf? string
---@field planId? string
---@field supersedes? string
---@field error? table<string, any>

---@alias agent_ls.wire.RunStatus 'queued'|'starting'|'running'|'finalizing'|'completed'|'interrupted'|'failed'|'cancelled'|'rolled_back'

---@class agent_ls.wire.RunUse
---@field inputTokens integer
---@field outputTokens integer
---@field cacheReadTokens integer
---@field costUsd? number
---@field runId string
---@field ordinal integer
---@field status agent_ls.wire.RunStatus
---@field steps integer

---@class agent_ls.wire.SaveDocument
---@field uri string

---@class agent_ls.wire.Saved
---@field saved boolean

---@class agent_ls.wire.SendMessage
---@field commandId string
---@field conversationId string
---@field content agent_ls.wire.Block[]
---@field context? agent_ls.wire.ContextItem[]
---@field dispatch? 'auto'|'queue'|'steer'|'restart'|'start'
---@field targetRunId? string
---@field planId? string

--- `notice`: something to tell the person, as that many messages wait.
---@class agent_ls.wire.Sent
---@field runId string
---@field disposition 'started'|'queued'|'steered'|'restarted'
---@field seq integer
---@field notice? string

--- Done with the event `seq`.
---@class agent_ls.wire.Sequenced
---@field seq integer

---@class agent_ls.wire.ShellList
---@field shells agent_ls.wire.ShellView[]

--- One that runs; `itemId` is the call that began it. Its end is a notice `shell_ended` beneath that.
---@class agent_ls.wire.ShellView
---@field id string
---@field conversationId string
---@field runId string
---@field itemId string
---@field command string
---@field cwd string
---@field since string
---@field pid? integer

--- A message that joins the run at its next step border.
---@class agent_ls.wire.Steer
---@field content agent_ls.wire.Block[]
---@field context? agent_ls.wire.ContextItem[]
---@field at? string

---@class agent_ls.wire.StopShell
---@field commandId string
---@field shellId string

--- `delta` goes to the end of what came before, `text` replaces it; the committed item replaces both.
---@class agent_ls.wire.StreamPart
---@field conversationId string
---@field itemId string
---@field cursor integer
---@field phase? 'thinking'|'answering'|'tool'|'retrying'|'compacting'|'waiting'
---@field delta? string
---@field text? string
---@field output? string

--- Text in flight of an item that is not committed yet; `agent/stream` goes on at `cursor`.
---@class agent_ls.wire.StreamView
---@field itemId string
---@field cursor integer
---@field text string
---@field phase? 'thinking'|'answering'|'tool'|'retrying'|'compacting'|'waiting'
---@field output? string

--- A part of the work that a conversation of its own does, as its parent shows it.
---
--- `status`: queued, running, waiting, stopping, completed, failed or interrupted. `requests` are the numbers of what
--- waits for the person there and beneath it, `steps` its list of steps, `usage` what it has used so far, `taken` how
--- often a model was asked for it, there and beneath it.
---@class agent_ls.wire.Subagent
---@field conversationId string
---@field task string
---@field status string
---@field result? string
---@field agent? string
---@field requests? integer[]
---@field steps? table<string, any>[]
---@field usage? agent_ls.wire.Usage
---@field taken? integer
---@field callId? string

---@class agent_ls.wire.TodoList
---@field steps table<string, any>[]

--- What came of a call. `output` is what the model is told, without the status word in front.
---
--- `images` are image blocks for the model. `blob` is the digest of what the model was not shown of a long output,
--- `full` of what it was shown but what is too long for the transcript. `data` holds facts that later calls need (hash
--- of what was read), never shown to the model.
---@class agent_ls.wire.ToolResult
---@field status agent_ls.wire.ResultStatus
---@field output? string
---@field exitCode? integer
---@field blob? string
---@field full? string
---@field images? agent_ls.wire.Block[]
---@field data? table<string, any>

---@class agent_ls.wire.UpdateConversation
---@field commandId string
---@field conversationId string
---@field title? string
---@field provider? string
---@field model? string
---@field mode? agent_ls.wire.Mode
---@field archived? boolean
---@field allowAuto? boolean

---@class agent_ls.wire.UpdateQueue
---@field commandId string
---@field conversationId string
---@field op 'edit'|'remove'|'move'|'promote'|'release'|'hold'
---@field runId? string
---@field content? agent_ls.wire.Block[]
---@field before? string

--- Tokens of one or more steps, as the provider counted them.
---@class agent_ls.wire.Usage
---@field inputTokens? integer
---@field outputTokens? integer
---@field cacheReadTokens? integer
---@field cacheWriteTokens? integer
---@field costUsd? number

--- Tokens as the provider counted them; the cost where its price is known.
---@class agent_ls.wire.Use
---@field inputTokens integer
---@field outputTokens integer
---@field cacheReadTokens integer
---@field costUsd? number

---@class agent_ls.wire.UserMessage
---@field content agent_ls.wire.Block[]
---@field context? agent_ls.wire.ContextItem[]

--- What the window's other servers said of one document.
---@class agent_ls.wire.WindowDiagnostics
---@field uri string
---@field version? integer
---@field diagnostics table<string, any>[]

---@class agent_ls.wire.WindowFocus
---@field focused boolean
---@field uri? string
---@field range? table<string, any>

--- Every window that follows the conversation now, this one included.
---@class agent_ls.wire.WindowsChanged
---@field conversationId string
---@field windows agent_ls.wire.Presence[]

--- Payload of an item by its kind.
---@class agent_ls.wire.Payloads
---@field user_message agent_ls.wire.UserMessage
---@field assistant_message agent_ls.wire.AssistantMessage
---@field reasoning agent_ls.wire.Reasoning
---@field tool_call agent_ls.wire.Call
---@field command agent_ls.wire.Call
---@field file_change agent_ls.wire.Call
---@field notice agent_ls.wire.Notice
---@field error agent_ls.wire.Notice
---@field interrupt agent_ls.wire.Interruption
---@field question agent_ls.wire.Question
---@field plan agent_ls.wire.Plan
---@field todo_list agent_ls.wire.TodoList
---@field subagent agent_ls.wire.Subagent
---@field compaction agent_ls.wire.Compaction
---@field handoff agent_ls.wire.Handoff

--- What an editor asks the daemon.
---@class agent_ls.wire.Requests
---@field ['agent/conversation/list'] fun(params: agent_ls.wire.ListConversations): agent_ls.wire.ConversationList Conversations, newest first.
---@field ['agent/conversation/create'] fun(params: agent_ls.wire.CreateConversation): agent_ls.wire.Conversed Makes a conversation; its workspace is fixed.
---@field ['agent/conversation/attach'] fun(params: agent_ls.wire.Attach): agent_ls.wire.Attached A snapshot, then every event after it; asking again gives a fresh one.
---@field ['agent/conversation/detach'] fun(params: agent_ls.wire.OfConversation): agent_ls.wire.Nothing No more events of it.
---@field ['agent/conversation/items'] fun(params: agent_ls.wire.OlderItems): agent_ls.wire.ItemPage Older items, before a cursor.
---@field ['agent/conversation/update'] fun(params: agent_ls.wire.UpdateConversation): agent_ls.wire.Conversed Changes title, model, provider, mode or archived.
---@field ['agent/conversation/fork'] fun(params: agent_ls.wire.ForkConversation): agent_ls.wire.Conversed A new conversation that goes on from here: from the end, or after a run or an item.
---@field ['agent/conversation/mergeBack'] fun(params: agent_ls.wire.MergeBack): agent_ls.wire.Sequenced Tells the conversation that a fork was made of what came of it.
---@field ['agent/conversation/compact'] fun(params: agent_ls.wire.CompactConversation): agent_ls.wire.Sequenced Summarizes older items, at the next step border where a run goes on. Stopped as that run is, or the newest.
---@field ['agent/conversation/export'] fun(params: agent_ls.wire.ExportConversation): agent_ls.wire.Exported The conversation as text or as events.
---@field ['agent/conversation/import'] fun(params: agent_ls.wire.ImportConversation): agent_ls.wire.ImportedView A conversation from a file of events, whatever of it can be read; nothing of it is run.
---@field ['agent/conversation/delete'] fun(params: agent_ls.wire.DeleteConversation): agent_ls.wire.Nothing Removes it for good; ask the person first.
---@field ['agent/message/send'] fun(params: agent_ls.wire.SendMessage): agent_ls.wire.Sent A message of the person: starts a run, joins the one that goes on, or waits in the queue.
---@field ['agent/queue/update'] fun(params: agent_ls.wire.UpdateQueue): agent_ls.wire.QueueUpdated Edits, removes, moves or promotes a queued run; holds, releases.
---@field ['agent/run/interrupt'] fun(params: agent_ls.wire.InterruptRun): agent_ls.wire.Noted Noted at once; the end of the run, or of the one call, comes as events.
---@field ['agent/run/hurry'] fun(params: agent_ls.wire.CommandOnRun): agent_ls.wire.Hurried Tries again now instead of after the wait.
---@field ['agent/run/retry'] fun(params: agent_ls.wire.CommandOnRun): agent_ls.wire.Sent Asks the same input again, after a run that failed or was stopped.
---@field ['agent/request/list'] fun(params: agent_ls.wire.ListRequests): agent_ls.wire.RequestList What waits for an answer, of the whole daemon.
---@field ['agent/request/respond'] fun(params: agent_ls.wire.Respond): agent_ls.wire.Responded Answers a request, bound to the digest that was shown; the first answer counts.
---@field ['agent/request/preview'] fun(params: agent_ls.wire.OfRequest): agent_ls.wire.Preview All of what an answer would allow.
---@field ['agent/checkpoint/list'] fun(params: agent_ls.wire.ListCheckpoints): agent_ls.wire.CheckpointList Files as they were at boundaries.
---@field ['agent/checkpoint/diff'] fun(params: agent_ls.wire.DiffCheckpoints): agent_ls.wire.CheckpointDiff Hunks between two checkpoints.
---@field ['agent/checkpoint/restore'] fun(params: agent_ls.wire.RestoreCheckpoint): agent_ls.wire.Restored Puts files back.
---@field ['agent/change/list'] fun(params: agent_ls.wire.ListChanges): agent_ls.wire.ChangeList Hunks of the agent's edits, file by file.
---@field ['agent/change/keep'] fun(params: agent_ls.wire.DecideChange): agent_ls.wire.ChangeDecided Keeps a hunk or a file.
---@field ['agent/change/undo'] fun(params: agent_ls.wire.DecideChange): agent_ls.wire.ChangeDecided Takes a hunk or a file back, where the agent's own lines are as it wrote them.
---@field ['agent/rollback'] fun(params: agent_ls.wire.Rollback): agent_ls.wire.RolledBack Back to a run: files and conversation.
---@field ['agent/blob/read'] fun(params: agent_ls.wire.ReadBlob): agent_ls.wire.BlobPart A part of a long output.
---@field ['agent/shell/list'] fun(params: agent_ls.wire.ListShells): agent_ls.wire.ShellList Background shells that run.
---@field ['agent/shell/stop'] fun(params: agent_ls.wire.StopShell): agent_ls.wire.Nothing Ends a background shell with all that it has started.
---@field ['agent/lock/list'] fun(params: agent_ls.wire.Params): agent_ls.wire.LockList Which files and folders are held, by which run.
---@field ['agent/lock/release'] fun(params: agent_ls.wire.ReleaseLock): agent_ls.wire.Nothing The person takes a lock over: who waits for it goes on, who held it is told.
---@field ['agent/permission/list'] fun(params: agent_ls.wire.ListRules): agent_ls.wire.RuleList Rules with their scope and origin.
---@field ['agent/permission/add'] fun(params: agent_ls.wire.AddRule): agent_ls.wire.Rule Keeps a rule, to the letter; it holds for whatever has not started yet.
---@field ['agent/permission/remove'] fun(params: agent_ls.wire.RemoveRule): agent_ls.wire.Nothing Removes a rule that was kept; it holds for whatever has not started yet.
---@field ['agent/permission/explain'] fun(params: agent_ls.wire.ExplainPermission): agent_ls.wire.Explanation What would happen to a call, and which rule says so.
---@field ['agent/provider/list'] fun(params: agent_ls.wire.Params): agent_ls.wire.ProviderList Providers, and why one is not available.
---@field ['agent/model/list'] fun(params: agent_ls.wire.ListModels): agent_ls.wire.ModelList Models that can be chosen.
---@field ['agent/context/status'] fun(params: agent_ls.wire.OfConversation): agent_ls.wire.ContextUse Tokens, window, cost so far.
---@field ['agent/drain'] fun(params: agent_ls.wire.Drain): agent_ls.wire.Nothing Ends the daemon: nothing new begins, what runs comes to its commit or is left to the next daemon. `handoff`: that one waits already.
---@field ['agent/status'] fun(params: agent_ls.wire.Params): agent_ls.wire.DaemonStatus The daemon itself, as `agent-ls status --json`.

--- What an editor tells the daemon.
---@class agent_ls.wire.ClientNotifications
---@field ['agent/window/focus'] fun(params: agent_ls.wire.WindowFocus) This window got or lost the focus.
---@field ['agent/diagnostics'] fun(params: agent_ls.wire.WindowDiagnostics) What the window's other servers said.
---@field ['agent/conversation/draft'] fun(params: agent_ls.wire.Draft) What the person is writing; empty: nothing more.

--- What the daemon tells an editor.
---@class agent_ls.wire.Notifications
---@field ['agent/hello'] fun(params: agent_ls.wire.Hello) At each connect and reconnect; another bootId is another daemon.
---@field ['agent/event'] fun(params: agent_ls.wire.Events) What was committed in an attached conversation.
---@field ['agent/stream'] fun(params: agent_ls.wire.StreamPart) Text in flight; may be dropped, the committed item supersedes it.
---@field ['agent/request/changed'] fun(params: agent_ls.wire.RequestsChanged) What waits for an answer has changed.
---@field ['agent/request/answered'] fun(params: agent_ls.wire.RequestList) Answered in another window; `decidedFrom` says in which.
---@field ['agent/conversation/draft'] fun(params: agent_ls.wire.Drafted) Another window of the conversation said what is being written.
---@field ['agent/conversation/windows'] fun(params: agent_ls.wire.WindowsChanged) Another window came to a conversation, or left it.
---@field ['agent/resync'] fun(params: agent_ls.wire.Resync) This window was too slow: attach again.
---@field ['agent/drain'] fun(params: agent_ls.wire.Draining) The daemon is about to end; connect again after the wait.
---@field ['agent/conversation/changed'] fun(params: agent_ls.wire.ConversationsChanged) Summaries that changed.
---@field ['agent/lock/changed'] fun(params: agent_ls.wire.LockList) The locks of this window's workspaces, all of them.

--- What the daemon asks an editor.
---@class agent_ls.wire.ServerRequests
---@field ['agent/ui/reveal'] fun(params: agent_ls.wire.Reveal): agent_ls.wire.Nothing Shows a place.
---@field ['agent/document/save'] fun(params: agent_ls.wire.SaveDocument): agent_ls.wire.Saved Saves a document that the agent edited.
---@field ['agent/lsp/request'] fun(params: agent_ls.wire.LanguageRequest): table<string, any> Asks one of the window's own language servers.
