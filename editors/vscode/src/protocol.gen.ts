// Made by `python -m agent_ls.wire.schema docs/` from agent_ls/wire/methods.py. Do not edit.

export const PROTOCOL = 1;

/** Kept for one conversation, for you in one workspace, or for you everywhere. */
export interface AddRule {
  commandId: string;
  rule: string;
  effect: "allow" | "ask" | "deny";
  scope: "conversation" | "workspace" | "user";
  workspace?: string;
  conversationId?: string;
}

/** `full` is the digest of the whole text where it is too long for the transcript. */
export interface AssistantMessage {
  text: string;
  model?: string;
  usage?: Usage;
  full?: string;
}

/** `after`: the seq that this window has already; events after it follow instead of a new snapshot. */
export interface Attach {
  conversationId: string;
  after?: number;
  backfill?: Backfill;
}

/**
 * Answered first; events after `seq` follow. Not a `snapshot`: what came after `after` follows as events.
 *
 * `draft`: what was written and not sent, in whichever window.
 */
export interface Attached {
  conversation: ConversationView;
  items: Item[];
  requests: Request[];
  run?: Run;
  queue: Run[];
  locks: Lock[];
  shells: ShellView[];
  windows: Presence[];
  draft?: string;
  streams: StreamView[];
  seq: number;
  snapshot: boolean;
  olderCursor?: string;
}

/**
 * `steps` counts finished steps; `read_through` is the ledger seq up to which its next step reads.
 *
 * `last_stop` is the stop reason of the newest step; `usage` the sum over steps, `last_usage` the newest step's.
 * `provider` and `model` are those it began with, "" in ledgers of before: a change counts from the next attempt on.
 * `answers` names the person's messages that it has answered.
 */
export interface Attempt {
  id: string;
  runId: string;
  conversationId: string;
  n: number;
  reason: Reason;
  status: AttemptStatus;
  readThrough: number;
  epoch: number;
  createdAt: string;
  steps?: number;
  lastStop?: string;
  usage?: Usage;
  lastUsage?: Usage;
  answers?: string[];
  provider?: string;
  model?: string;
}

export type AttemptStatus = "pending" | "running" | "completed" | "interrupted" | "failed" | "cancelled" | "superseded";

export interface Backfill {
  items?: number;
}

/** `data` is base64; `size` that of the whole blob in bytes. */
export interface BlobPart {
  data: string;
  offset: number;
  size: number;
}

/** One piece of a message: `text` {text}, `image` {mime_type, data: base64} or `file` {uri, range?}. */
export interface Block {
  type: string;
  text?: string;
  mimeType?: string;
  data?: string;
  uri?: string;
  range?: Record<string, unknown>;
}

/**
 * Payload of a tool call, command or file change. `call_id` is ours; `native_id` what the model called it.
 *
 * `record` is the digest of what is kept of a change to files (core.hunks), `reviewed` what the person has decided on
 * its hunks, by their number. `original` is the model's own input where the person has changed it. `stop`: the person
 * wants this call to end, and the run to go on. `again`: the person had it run again, and nobody knows whether it had
 * run before. `walled`: what came of it in the sandbox, which is why it is to run outside or not at all (walls.py).
 */
export interface Call {
  callId: string;
  tool: string;
  input: Record<string, unknown>;
  state?: CallState;
  nativeId?: string;
  title?: string;
  uri?: string;
  diff?: string;
  cwd?: string;
  keys?: string[];
  effect?: string;
  replay?: string;
  digest?: string;
  requestId?: string;
  decidedBy?: string;
  decidedFrom?: string;
  rule?: string;
  rawArguments?: string;
  inputBlob?: string;
  before?: string;
  after?: string;
  record?: string;
  reviewed?: Record<string, string>;
  original?: Record<string, unknown>;
  originalBlob?: string;
  stop?: Interruption;
  again?: boolean;
  walled?: ToolResult;
  result?: ToolResult;
}

export type CallState = "proposed" | "awaiting_approval" | "approved" | "denied" | "started" | "finished" | "not_run";

/** `hunks` that were decided now, `left` those that could not be undone; `note` says what became of the file. */
export interface ChangeDecided {
  seq: number;
  hunks: string[];
  left: string[];
  note?: string;
}

export interface ChangeList {
  changes: FileReview[];
}

/** `before` and `after` are the whole texts, the hashes those of the file, "" where it is not there. */
export interface ChangePreview {
  uri: string;
  path: string;
  diff: string;
  before: string;
  after: string;
  beforeHash: string;
  afterHash: string;
}

export interface CheckpointDiff {
  files: FileChanges[];
}

export interface CheckpointList {
  checkpoints: Record<string, unknown>[];
}

export type Code = "already_decided" | "not_resumable" | "digest_mismatch" | "too_soon" | "unknown_request" | "stale_epoch" | "queue_held" | "queue_full" | "command_conflict" | "not_found" | "unsupported" | "unauthorized" | "conversation_busy" | "provider_unavailable" | "provider_error" | "rate_limited" | "context_overflow" | "permission_denied" | "outside_workspace" | "stale_document" | "ledger_unavailable" | "disk_full" | "schema_too_new" | "invalid_params";

export interface CommandOnRun {
  commandId: string;
  runId: string;
}

/** What a command would run as; `environment` holds only what changes, null where a name is taken away. */
export interface CommandPreview {
  command: string;
  cwd: string;
  environment: Record<string, string | null>;
}

export interface CompactConversation {
  commandId: string;
  conversationId: string;
  instructions?: string;
}

/** A wish to compact that was noted and is not over; `id` is that of the effect that the ledger owes for it. */
export interface Compacting {
  id: string;
  by: string;
  from: string;
  at: string;
  instructions?: string;
}

/**
 * A summary that stands for older items in what a model is sent. The items themselves stay as they are.
 *
 * `first_kept` is the first item that is still sent as it was (None: none is), `kept_from` the place from which on
 * items are; `summarized`: how many it stands for. `made_by`: `model`, or `digest` where it was put together from the
 * ledger because of `trouble`. `trigger`: limit, overflow or manual. `carried` is what was put in again beside it,
 * `messages` those of the person's that are repeated word for word (`answered`: they were done with). Tokens are
 * estimates of the whole request.
 */
export interface Compaction {
  summary: string;
  summarized: number;
  firstKept?: string;
  keptFrom?: number;
  madeBy?: string;
  model?: string;
  trigger?: string;
  mode?: string;
  instructions?: string;
  carried?: string;
  messages?: string[];
  answered?: boolean;
  tokensBefore?: number;
  tokensAfter?: number;
  trouble?: string;
  usage?: Usage;
}

/** What an editor attached to a message, as it was when sent. */
export interface ContextItem {
  type: string;
  uri?: string;
  range?: Record<string, unknown>;
  text?: string;
  data?: unknown;
  blob?: string;
}

/**
 * `usedTokens` estimates the next request, the rest is of the whole conversation, its subagents included.
 *
 * `subagents` is what they had of it, `runs` the newest ones. `thresholds` in tokens: `compactAt` (none where that is
 * switched off), `reserve` and `keepRecent`. `cacheHitRate`: the share of all that was sent which a cache had.
 */
export interface ContextUse {
  usedTokens: number;
  inputTokens: number;
  outputTokens: number;
  lastStep: Use;
  runs: RunUse[];
  subagents?: Use;
  windowTokens?: number;
  thresholds?: Record<string, number>;
  costUsd?: number;
  cacheReadTokens: number;
  cacheHitRate?: number;
}

/**
 * `workspace` is a root URI on the machine `host` (none where one machine has the ledger for itself).
 *
 * `rules` are what the person allowed or denied for this conversation. `compacting` is a wish that is not over yet:
 * where no run goes on, what is said meanwhile waits in the queue.
 */
export interface Conversation {
  id: string;
  workspace: string;
  title: string;
  provider: string;
  model: string;
  mode: Mode;
  createdAt: string;
  updatedAt: string;
  queueHeld?: boolean;
  archived?: boolean;
  parentId?: string;
  relation?: string;
  delegated?: Delegated;
  forkedFrom?: Forked;
  rules?: Record<string, unknown>[];
  trusted?: boolean;
  host?: string;
  compacting?: Compacting;
}

export interface ConversationList {
  conversations: ConversationSummary[];
  nextCursor?: string;
}

export type ConversationStatus = "idle" | "queued" | "running" | "waiting" | "stopping";

export interface ConversationSummary {
  id: string;
  workspace: string;
  title: string;
  provider: string;
  model: string;
  mode: Mode;
  createdAt: string;
  updatedAt: string;
  queueHeld?: boolean;
  archived?: boolean;
  parentId?: string;
  relation?: string;
  delegated?: Delegated;
  forkedFrom?: Forked;
  rules?: Record<string, unknown>[];
  trusted?: boolean;
  host?: string;
  compacting?: Compacting;
  status: ConversationStatus;
  pendingRequests: number;
  lastText: string;
}

/** A conversation as a window sees it, with what follows from its runs and requests. */
export interface ConversationView {
  id: string;
  workspace: string;
  title: string;
  provider: string;
  model: string;
  mode: Mode;
  createdAt: string;
  updatedAt: string;
  queueHeld?: boolean;
  archived?: boolean;
  parentId?: string;
  relation?: string;
  delegated?: Delegated;
  forkedFrom?: Forked;
  rules?: Record<string, unknown>[];
  trusted?: boolean;
  host?: string;
  compacting?: Compacting;
  status: ConversationStatus;
}

export interface ConversationsChanged {
  conversations: ConversationSummary[];
  deleted?: string[];
}

export interface Conversed {
  conversation: ConversationView;
  seq: number;
}

/** `allowAuto`: the person said so in this very command, which lets mode `auto` be chosen. */
export interface CreateConversation {
  commandId: string;
  workspace: string;
  title?: string;
  provider?: string;
  model?: string;
  mode?: Mode;
  allowAuto?: boolean;
}

/**
 * `drain` is null while the daemon serves; `instances` are the newest daemons that held this ledger; `mcp` the
 * servers of tools, one a workspace: name, state, how many tools.
 */
export interface DaemonStatus {
  pid: number;
  version: string;
  bootId: string;
  instanceId: string;
  uptimeS: number;
  connections: unknown;
  claims: unknown;
  runs: unknown;
  requests: unknown;
  shells: unknown;
  effects: unknown;
  ledger: Record<string, unknown>;
  drain: unknown;
  instances: Record<string, unknown>[];
  config: Record<string, unknown>;
  janitor: Record<string, unknown>;
  mcp: Record<string, unknown>[];
}

/** One hunk, or without `hunkId` the whole file. `hash`: of the file that the person looked at, as listed. */
export interface DecideChange {
  commandId: string;
  conversationId: string;
  uri: string;
  hunkId?: string;
  hash?: string;
}

export type Decision = "allow" | "deny" | "answer" | "cancel";

/**
 * What a subagent was started with: by which call, for what, and which conversations stand above it, root first.
 *
 * `tools`: those that it may have, None for all that its parent has; `instructions` of the agent that it is.
 */
export interface Delegated {
  itemId: string;
  task: string;
  ancestors: string[];
  agent?: string;
  instructions?: string;
  tools?: string[];
}

export interface DeleteConversation {
  commandId: string;
  conversationId: string;
}

export interface DiffCheckpoints {
  conversationId: string;
  from?: string;
  to?: string;
  path?: string;
}

export interface Draft {
  conversationId: string;
  text: string;
}

export interface Drafted {
  conversationId: string;
  text: string;
}

export interface Drain {
  mode: "handoff" | "shutdown";
  deadlineMs?: number;
}

export interface Draining {
  retryAfterMs: number;
  reason: string;
}

export interface ErrorData {
  code: Code;
  message: string;
  hint?: string;
  retryable: boolean;
}

/** `entity` is the whole of it after the fact; `seq` is gapless in its conversation. */
export interface Event {
  seq: number;
  at: string;
  kind: EventKind;
  fact: string;
  entity: Conversation | Run | Attempt | Item | Request;
}

export type EventKind = "conversation" | "run" | "attempt" | "item" | "request";

/** Committed facts in order, no gap, no repeat; upsert each entity by its id. */
export interface Events {
  conversationId: string;
  events: Event[];
}

/** What would happen to this call, and why; seen from a conversation, or from a workspace's defaults. */
export interface ExplainPermission {
  tool: string;
  input: Record<string, unknown>;
  workspace?: string;
  conversationId?: string;
}

export interface Explanation {
  effect: "allow" | "ask" | "deny";
  reason: string;
  decidedBy?: string;
}

export interface ExportConversation {
  conversationId: string;
  format?: "markdown" | "jsonl";
}

/** `text`, or the path of a file that holds it when it is long: whoever asked removes it. */
export interface Exported {
  text?: string;
  path?: string;
}

export interface FileChanges {
  uri: string;
  hunks: Hunk[];
}

/** `hash` of the file that counts now, "" where there is none; `trouble`: why it cannot be looked at. */
export interface FileReview {
  uri: string;
  path: string;
  hash: string;
  hunks: ReviewHunk[];
  trouble?: string;
}

/** Without `at` from the end, or as far as a run that goes on has come. */
export interface ForkConversation {
  commandId: string;
  conversationId: string;
  at?: ForkPoint;
  title?: string;
}

/** After which run or item; one of them. */
export interface ForkPoint {
  runId?: string;
  checkpointId?: string;
  itemId?: string;
}

/**
 * Where a fork began: in which conversation (`title` is what that was called then), after which item of it.
 *
 * The fork has everything up to the place `through` from there; 0 and no item where nothing had been said.
 * `origin` is the conversation at the root of all forks between: what a provider has cached of it serves them all.
 */
export interface Forked {
  conversationId: string;
  title: string;
  through: number;
  origin: string;
  itemId?: string;
  runId?: string;
}

/** Something of a file that was not taken over. */
export interface GapView {
  line: number;
  what: string;
}

/**
 * Context that came from the conversation `from_`, as the model is told of it; `omitted` names what was left out.
 *
 * It covers that conversation up to the place `through`.
 */
export interface Handoff {
  strategy: string;
  from: string;
  to: string;
  text: string;
  omitted?: string[];
  through?: number;
}

/** Sent at each connect and reconnect. Another `bootId` than before: a new daemon, attach again. */
export interface Hello {
  protocol: number;
  daemonVersion: string;
  bootId: string;
  pid: number;
}

export interface Hunk {
  id: string;
  range: Record<string, unknown>;
  old: string;
  new: string;
  state: "open" | "kept" | "undone" | "stale";
}

export interface Hurried {
  seq: number;
  runId: string;
}

/** `path` of a file on the daemon's machine, absolute; `workspace` where the file names none. */
export interface ImportConversation {
  commandId: string;
  path: string;
  workspace?: string;
}

/** `existed`: the file had been imported before, nothing was added. `gaps` are the first of `gapCount`. */
export interface ImportedView {
  conversation: ConversationView;
  seq: number;
  events: number;
  blobs: number;
  interrupted: number;
  existed: boolean;
  gaps: GapView[];
  gapCount: number;
}

/** A stop that was noted: who asked, from where, when; `hold_queue` keeps queued runs waiting. */
export interface Interrupt {
  by: string;
  from: string;
  at: string;
  holdQueue?: boolean;
}

export interface InterruptRun {
  commandId: string;
  runId: string;
  itemId?: string;
  holdQueue?: boolean;
}

/** Who stopped a run or a call, and from where. */
export interface Interruption {
  by: string;
  from?: string;
}

/** One row of the transcript. `ord` is its place, unique in the conversation and never changed. */
export interface Item {
  id: string;
  conversationId: string;
  runId: string;
  ord: number;
  kind: ItemKind;
  status: ItemStatus;
  payload: UserMessage | AssistantMessage | Reasoning | Call | Notice | Interruption | Question | Plan | TodoList | Subagent | Compaction | Handoff;
  createdAt: string;
  attemptId?: string;
  stepId?: string;
  parentId?: string;
  updatedAt?: string;
}

export type ItemKind = "user_message" | "assistant_message" | "reasoning" | "tool_call" | "command" | "file_change" | "approval" | "question" | "plan" | "todo_list" | "subagent" | "compaction" | "handoff" | "checkpoint" | "interrupt" | "error" | "notice";

export interface ItemPage {
  items: Item[];
  olderCursor?: string;
}

export type ItemStatus = "pending" | "running" | "completed" | "failed" | "cancelled" | "interrupted";

/** A request to one of the window's own language servers. */
export interface LanguageRequest {
  method: string;
  params?: unknown;
}

export interface ListChanges {
  conversationId: string;
  runId?: string;
}

export interface ListCheckpoints {
  conversationId: string;
  runId?: string;
}

export interface ListConversations {
  workspace?: string;
  query?: string;
  archived?: boolean;
  cursor?: string;
  limit?: number;
}

export interface ListModels {
  provider?: string;
}

/** With `number`, that one request alone, whatever became of it. */
export interface ListRequests {
  workspace?: string;
  conversationId?: string;
  number?: number;
}

export interface ListRules {
  workspace?: string;
  conversationId?: string;
}

/** Of one conversation, or of all that this daemon holds. */
export interface ListShells {
  conversationId?: string;
}

/** `waiting`: how many calls wait for it. */
export interface Lock {
  key: string;
  conversationId: string;
  runId: string;
  itemId: string;
  since: string;
  waiting: number;
}

export interface LockList {
  locks: Lock[];
}

/** `from`: the fork; `into`: the conversation that it was made of. */
export interface MergeBack {
  commandId: string;
  from: string;
  into: string;
}

export type Mode = "ask" | "edits" | "plan" | "auto";

export interface ModelList {
  models: ModelView[];
}

export interface ModelView {
  id: string;
  provider: string;
  available: boolean;
  reason?: string;
  contextWindow?: number;
  capabilities?: Record<string, unknown>;
}

/** Not over yet: the run is `stopping` until its end comes as an event, or was over before. */
export interface Noted {
  seq: number;
  runId: string;
  status: RunStatus | "stopping";
}

/** An empty object: the answer itself says that it is done. */
export interface Nothing {
}

/**
 * Payload of `notice` and `error`: a stable code and a sentence.
 *
 * While the model is about to be asked again (`retrying`): `until` when, try `tried` of `most`.
 */
export interface Notice {
  code: string;
  message: string;
  hint?: string;
  until?: string;
  tried?: number;
  most?: number;
}

export interface OfConversation {
  conversationId: string;
}

export interface OfRequest {
  requestId: string;
}

export interface OlderItems {
  conversationId: string;
  cursor: string;
  limit?: number;
}

/** One way to answer. `rule` is what an "always" would store, shown before it is stored. */
export interface Option {
  id: string;
  label: string;
  decision: Decision;
  scope?: string;
  rule?: string;
}

/** Of what a subagent asks: its task, and the conversations above it, root first. */
export interface Origin {
  conversationIds: string[];
  task: string;
  agent?: string;
}

/** Base of all parameters. Built at first use: a start that needs three methods pays for three. */
export interface Params {
}

/** What the agent wants to do, as the person last saw it. `state`: proposed, accepted, refused or dropped. */
export interface Plan {
  markdown: string;
  state: string;
  callId?: string;
}

/** A window that follows a conversation. `number` tells windows of one daemon apart. */
export interface Presence {
  number: number;
  client: string;
  focused: boolean;
  windowId?: string;
}

/** The whole of what an answer would allow, and the digest that binds the answer to it. */
export interface Preview {
  requestId: string;
  number: number;
  digest: string;
  title: string;
  status: RequestStatus;
  command?: CommandPreview;
  change?: ChangePreview;
  input?: Record<string, unknown>;
  questions?: Record<string, unknown>[];
}

export interface ProviderList {
  providers: ProviderView[];
}

/** `reason` says why it is not available and what to do. */
export interface ProviderView {
  id: string;
  kind: string;
  available: boolean;
  model?: string;
  reason?: string;
  capabilities?: Record<string, unknown>;
}

export interface Question {
  questions: Record<string, unknown>[];
  answers?: unknown;
  callId?: string;
}

/** `runId` of the run that was changed, `queueHeld` after `hold` and `release`. */
export interface QueueUpdated {
  seq: number;
  runId?: string;
  queueHeld?: boolean;
}

export interface ReadBlob {
  digest: string;
  offset?: number;
  limit?: number;
}

export type Reason = "initial" | "steering_restart" | "retry" | "recovery";

/**
 * `raw` is the provider's own block, replayed byte for byte to the provider and model that made it; `full` the
 * digest of that block where it is too large for the transcript.
 */
export interface Reasoning {
  text: string;
  provider?: string;
  model?: string;
  raw?: Record<string, unknown>;
  full?: string;
}

/** `key` as the list names it. */
export interface ReleaseLock {
  commandId: string;
  key: string;
}

/** One that `agent/permission/list` shows with an id. */
export interface RemoveRule {
  commandId: string;
  ruleId: string;
}

/** `digest` binds an approval to what was shown; `card` is what the person is shown, complete. */
export interface Request {
  id: string;
  number: number;
  conversationId: string;
  runId: string;
  itemId: string;
  kind: RequestKind;
  title: string;
  options: Option[];
  digest: string;
  status: RequestStatus;
  createdAt: string;
  tool?: string;
  input?: Record<string, unknown>;
  card?: Record<string, unknown>;
  questions?: Record<string, unknown>[];
  origin?: Origin;
  decision?: Decision;
  scope?: string;
  optionId?: string;
  reason?: string;
  answers?: unknown;
  decidedBy?: string;
  decidedFrom?: string;
  decidedAt?: string;
}

export type RequestKind = "approval" | "question" | "plan";

export interface RequestList {
  requests: Request[];
}

export type RequestStatus = "pending" | "responding" | "resolved" | "expired" | "cancelled";

/** `pending` counts the whole daemon, `requests` are those that this window should show. */
export interface RequestsChanged {
  pending: number;
  requests: Request[];
}

export interface Respond {
  commandId: string;
  requestId: string;
  digest: string;
  decision: Decision;
  scope?: "once" | "conversation" | "workspace";
  optionId?: string;
  input?: Record<string, unknown>;
  reason?: string;
  answers?: unknown;
}

export interface Responded {
  seq: number;
  status: RequestStatus;
}

export interface RestoreCheckpoint {
  commandId: string;
  checkpointId: string;
  dryRun?: boolean;
  paths?: string[];
}

export interface Restored {
  restored: string[];
  conflicts: string[];
}

export type ResultStatus = "ok" | "error" | "denied" | "timeout" | "interrupted" | "unknown" | "not_run";

export interface Resync {
  conversationId: string;
}

/** The model is asked again at `until`; `item_id` is the notice that shows it. */
export interface RetryWait {
  until: string;
  itemId: string;
}

export interface Reveal {
  uri: string;
  range?: Record<string, unknown>;
}

/** Whole lines. `range`: where it stands in the text as this window has it. `cut`: a text too long to be told. */
export interface ReviewHunk {
  id: string;
  range: Record<string, unknown>;
  old: string;
  new: string;
  state: "open" | "kept" | "undone" | "stale";
  itemId: string;
  runId: string;
  cut?: boolean;
}

export interface Rollback {
  commandId: string;
  conversationId: string;
  runId: string;
  dryRun?: boolean;
}

export interface RolledBack {
  restored: string[];
  conflicts: string[];
  runs: string[];
}

export interface Rule {
  id?: string;
  effect: "allow" | "ask" | "deny";
  rule: string;
  scope: string;
  origin: string;
}

export interface RuleList {
  rules: Rule[];
}

/**
 * `content` is the message; the user item carries it from the start on. `position` orders the queue.
 *
 * `steers` have been taken and not yet joined. `plan_id` is the item of the plan that it carries out.
 * `retries` counts waits of all attempts, `retry` is one that goes on; `tried` are those that still count against the
 * budget, as of `tried_at` steps that were answered (wait.py). `at_once`: it starts as soon as nothing else
 * runs, past a held queue. `retry_of` names the run whose input it asks again, `supersedes` the one whose place it
 * takes.
 */
export interface Run {
  id: string;
  conversationId: string;
  ordinal: number;
  status: RunStatus;
  createdAt: string;
  content?: Block[];
  context?: ContextItem[];
  position?: number;
  userItemId?: string;
  activeAttemptId?: string;
  startedAt?: string;
  endedAt?: string;
  interrupt?: Interrupt;
  steers?: Steer[];
  retries?: number;
  tried?: number;
  triedAt?: number;
  retry?: RetryWait;
  atOnce?: boolean;
  retryOf?: string;
  planId?: string;
  supersedes?: string;
  error?: Record<string, unknown>;
}

export type RunStatus = "queued" | "starting" | "running" | "finalizing" | "completed" | "interrupted" | "failed" | "cancelled" | "rolled_back";

export interface RunUse {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  costUsd?: number;
  runId: string;
  ordinal: number;
  status: RunStatus;
  steps: number;
}

export interface SaveDocument {
  uri: string;
}

export interface Saved {
  saved: boolean;
}

export interface SendMessage {
  commandId: string;
  conversationId: string;
  content: Block[];
  context?: ContextItem[];
  dispatch?: "auto" | "queue" | "steer" | "restart" | "start";
  targetRunId?: string;
  planId?: string;
}

/** `notice`: something to tell the person, as that many messages wait. */
export interface Sent {
  runId: string;
  disposition: "started" | "queued" | "steered" | "restarted";
  seq: number;
  notice?: string;
}

/** Done with the event `seq`. */
export interface Sequenced {
  seq: number;
}

export interface ShellList {
  shells: ShellView[];
}

/** One that runs; `itemId` is the call that began it. Its end is a notice `shell_ended` beneath that. */
export interface ShellView {
  id: string;
  conversationId: string;
  runId: string;
  itemId: string;
  command: string;
  cwd: string;
  since: string;
  pid?: number;
}

/** A message that joins the run at its next step border. */
export interface Steer {
  content: Block[];
  context?: ContextItem[];
  at?: string;
}

export interface StopShell {
  commandId: string;
  shellId: string;
}

/** `delta` goes to the end of what came before, `text` replaces it; the committed item replaces both. */
export interface StreamPart {
  conversationId: string;
  itemId: string;
  cursor: number;
  phase?: "thinking" | "answering" | "tool" | "retrying" | "compacting" | "waiting";
  delta?: string;
  text?: string;
  output?: string;
}

/** Text in flight of an item that is not committed yet; `agent/stream` goes on at `cursor`. */
export interface StreamView {
  itemId: string;
  cursor: number;
  text: string;
  phase?: "thinking" | "answering" | "tool" | "retrying" | "compacting" | "waiting";
  output?: string;
}

/**
 * A part of the work that a conversation of its own does, as its parent shows it.
 *
 * `status`: queued, running, waiting, stopping, completed, failed or interrupted. `requests` are the numbers of what
 * waits for the person there and beneath it, `steps` its list of steps, `usage` what it has used so far, `taken` how
 * often a model was asked for it, there and beneath it.
 */
export interface Subagent {
  conversationId: string;
  task: string;
  status: string;
  result?: string;
  agent?: string;
  requests?: number[];
  steps?: Record<string, unknown>[];
  usage?: Usage;
  taken?: number;
  callId?: string;
}

export interface TodoList {
  steps: Record<string, unknown>[];
}

/**
 * What came of a call. `output` is what the model is told, without the status word in front.
 *
 * `images` are image blocks for the model. `blob` is the digest of what the model was not shown of a long output,
 * `full` of what it was shown but what is too long for the transcript. `data` holds facts that later calls need (hash
 * of what was read), never shown to the model.
 */
export interface ToolResult {
  status: ResultStatus;
  output?: string;
  exitCode?: number;
  blob?: string;
  full?: string;
  images?: Block[];
  data?: Record<string, unknown>;
}

export interface UpdateConversation {
  commandId: string;
  conversationId: string;
  title?: string;
  provider?: string;
  model?: string;
  mode?: Mode;
  archived?: boolean;
  allowAuto?: boolean;
}

export interface UpdateQueue {
  commandId: string;
  conversationId: string;
  op: "edit" | "remove" | "move" | "promote" | "release" | "hold";
  runId?: string;
  content?: Block[];
  before?: string;
}

/** Tokens of one or more steps, as the provider counted them. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  costUsd?: number;
}

/** Tokens as the provider counted them; the cost where its price is known. */
export interface Use {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  costUsd?: number;
}

export interface UserMessage {
  content: Block[];
  context?: ContextItem[];
}

/** What the window's other servers said of one document. */
export interface WindowDiagnostics {
  uri: string;
  version?: number;
  diagnostics: Record<string, unknown>[];
}

export interface WindowFocus {
  focused: boolean;
  uri?: string;
  range?: Record<string, unknown>;
}

/** Every window that follows the conversation now, this one included. */
export interface WindowsChanged {
  conversationId: string;
  windows: Presence[];
}

/** Payload of an item by its kind. */
export interface Payloads {
  user_message: UserMessage;
  assistant_message: AssistantMessage;
  reasoning: Reasoning;
  tool_call: Call;
  command: Call;
  file_change: Call;
  notice: Notice;
  error: Notice;
  interrupt: Interruption;
  question: Question;
  plan: Plan;
  todo_list: TodoList;
  subagent: Subagent;
  compaction: Compaction;
  handoff: Handoff;
}

/** What an editor asks the daemon. */
export interface Requests {
  /** Conversations, newest first. */
  "agent/conversation/list": { params: ListConversations; result: ConversationList; };
  /** Makes a conversation; its workspace is fixed. */
  "agent/conversation/create": { params: CreateConversation; result: Conversed; };
  /** A snapshot, then every event after it; asking again gives a fresh one. */
  "agent/conversation/attach": { params: Attach; result: Attached; };
  /** No more events of it. */
  "agent/conversation/detach": { params: OfConversation; result: Nothing; };
  /** Older items, before a cursor. */
  "agent/conversation/items": { params: OlderItems; result: ItemPage; };
  /** Changes title, model, provider, mode or archived. */
  "agent/conversation/update": { params: UpdateConversation; result: Conversed; };
  /** A new conversation that goes on from here: from the end, or after a run or an item. */
  "agent/conversation/fork": { params: ForkConversation; result: Conversed; };
  /** Tells the conversation that a fork was made of what came of it. */
  "agent/conversation/mergeBack": { params: MergeBack; result: Sequenced; };
  /** Summarizes older items, at the next step border where a run goes on. Stopped as that run is, or the newest. */
  "agent/conversation/compact": { params: CompactConversation; result: Sequenced; };
  /** The conversation as text or as events. */
  "agent/conversation/export": { params: ExportConversation; result: Exported; };
  /** A conversation from a file of events, whatever of it can be read; nothing of it is run. */
  "agent/conversation/import": { params: ImportConversation; result: ImportedView; };
  /** Removes it for good; ask the person first. */
  "agent/conversation/delete": { params: DeleteConversation; result: Nothing; };
  /** A message of the person: starts a run, joins the one that goes on, or waits in the queue. */
  "agent/message/send": { params: SendMessage; result: Sent; };
  /** Edits, removes, moves or promotes a queued run; holds, releases. */
  "agent/queue/update": { params: UpdateQueue; result: QueueUpdated; };
  /** Noted at once; the end of the run, or of the one call, comes as events. */
  "agent/run/interrupt": { params: InterruptRun; result: Noted; };
  /** Tries again now instead of after the wait. */
  "agent/run/hurry": { params: CommandOnRun; result: Hurried; };
  /** Asks the same input again, after a run that failed or was stopped. */
  "agent/run/retry": { params: CommandOnRun; result: Sent; };
  /** What waits for an answer, of the whole daemon. */
  "agent/request/list": { params: ListRequests; result: RequestList; };
  /** Answers a request, bound to the digest that was shown; the first answer counts. */
  "agent/request/respond": { params: Respond; result: Responded; };
  /** All of what an answer would allow. */
  "agent/request/preview": { params: OfRequest; result: Preview; };
  /** Files as they were at boundaries. */
  "agent/checkpoint/list": { params: ListCheckpoints; result: CheckpointList; };
  /** Hunks between two checkpoints. */
  "agent/checkpoint/diff": { params: DiffCheckpoints; result: CheckpointDiff; };
  /** Puts files back. */
  "agent/checkpoint/restore": { params: RestoreCheckpoint; result: Restored; };
  /** Hunks of the agent's edits, file by file. */
  "agent/change/list": { params: ListChanges; result: ChangeList; };
  /** Keeps a hunk or a file. */
  "agent/change/keep": { params: DecideChange; result: ChangeDecided; };
  /** Takes a hunk or a file back, where the agent's own lines are as it wrote them. */
  "agent/change/undo": { params: DecideChange; result: ChangeDecided; };
  /** Back to a run: files and conversation. */
  "agent/rollback": { params: Rollback; result: RolledBack; };
  /** A part of a long output. */
  "agent/blob/read": { params: ReadBlob; result: BlobPart; };
  /** Background shells that run. */
  "agent/shell/list": { params: ListShells; result: ShellList; };
  /** Ends a background shell with all that it has started. */
  "agent/shell/stop": { params: StopShell; result: Nothing; };
  /** Which files and folders are held, by which run. */
  "agent/lock/list": { params: Params; result: LockList; };
  /** The person takes a lock over: who waits for it goes on, who held it is told. */
  "agent/lock/release": { params: ReleaseLock; result: Nothing; };
  /** Rules with their scope and origin. */
  "agent/permission/list": { params: ListRules; result: RuleList; };
  /** Keeps a rule, to the letter; it holds for whatever has not started yet. */
  "agent/permission/add": { params: AddRule; result: Rule; };
  /** Removes a rule that was kept; it holds for whatever has not started yet. */
  "agent/permission/remove": { params: RemoveRule; result: Nothing; };
  /** What would happen to a call, and which rule says so. */
  "agent/permission/explain": { params: ExplainPermission; result: Explanation; };
  /** Providers, and why one is not available. */
  "agent/provider/list": { params: Params; result: ProviderList; };
  /** Models that can be chosen. */
  "agent/model/list": { params: ListModels; result: ModelList; };
  /** Tokens, window, cost so far. */
  "agent/context/status": { params: OfConversation; result: ContextUse; };
  /** Ends the daemon: nothing new begins, what runs comes to its commit or is left to the next daemon. `handoff`: that one waits already. */
  "agent/drain": { params: Drain; result: Nothing; };
  /** The daemon itself, as `agent-ls status --json`. */
  "agent/status": { params: Params; result: DaemonStatus; };
}

/** What an editor tells the daemon. */
export interface ClientNotifications {
  /** This window got or lost the focus. */
  "agent/window/focus": { params: WindowFocus; };
  /** What the window's other servers said. */
  "agent/diagnostics": { params: WindowDiagnostics; };
  /** What the person is writing; empty: nothing more. */
  "agent/conversation/draft": { params: Draft; };
}

/** What the daemon tells an editor. */
export interface Notifications {
  /** At each connect and reconnect; another bootId is another daemon. */
  "agent/hello": { params: Hello; };
  /** What was committed in an attached conversation. */
  "agent/event": { params: Events; };
  /** Text in flight; may be dropped, the committed item supersedes it. */
  "agent/stream": { params: StreamPart; };
  /** What waits for an answer has changed. */
  "agent/request/changed": { params: RequestsChanged; };
  /** Answered in another window; `decidedFrom` says in which. */
  "agent/request/answered": { params: RequestList; };
  /** Another window of the conversation said what is being written. */
  "agent/conversation/draft": { params: Drafted; };
  /** Another window came to a conversation, or left it. */
  "agent/conversation/windows": { params: WindowsChanged; };
  /** This window was too slow: attach again. */
  "agent/resync": { params: Resync; };
  /** The daemon is about to end; connect again after the wait. */
  "agent/drain": { params: Draining; };
  /** Summaries that changed. */
  "agent/conversation/changed": { params: ConversationsChanged; };
  /** The locks of this window's workspaces, all of them. */
  "agent/lock/changed": { params: LockList; };
}

/** What the daemon asks an editor. */
export interface ServerRequests {
  /** Shows a place. */
  "agent/ui/reveal": { params: Reveal; result: Nothing; };
  /** Saves a document that the agent edited. */
  "agent/document/save": { params: SaveDocument; result: Saved; };
  /** Asks one of the window's own language servers. */
  "agent/lsp/request": { params: LanguageRequest; result: Record<string, unknown>; };
}
