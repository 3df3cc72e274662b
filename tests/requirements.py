"""What has to hold, as sentences, each with the tests that show it.

Owns the list. `tests/architecture/test_requirements.py` checks both ways: every test named here exists, and every
acceptance test (one that plays on `tests.scene`) is named by a requirement. A proof is a file, or `file::test`.
"""

from typing import Final

from tests.requirement import Requirement
from tests.requirements_cases import CASES
from tests.requirements_editor_cases import EDITOR_CASES
from tests.requirements_editors import EDITORS
from tests.requirements_tools import TOOLS

_CONTEXT = "tests/protocol/test_context.py"
_CRASH = "tests/crash/test_kill_daemon.py"
_DISK = "tests/unit/adapters/host/test_files.py"

REQUIREMENTS: Final[dict[str, Requirement]] = {
    "spine.main-job": Requirement(
        "Through `agent-ls connect`: message, read, edit, command, approvals, files changed, output streamed, "
        "completed; the same headless by `agent-ls ask` with its exit codes.",
        ("tests/protocol/test_main_job.py",),
    ),
    "wires.main-job": Requirement(
        "On each wire: thoughts, read, edit and command with their approvals, completed; thoughts go back byte for "
        "byte, also by a daemon that has read them from its ledger.",
        ("tests/protocol/test_wires.py", "tests/contract/test_model_replay.py"),
    ),
    "wires.streams": Requirement(
        "However a stream is cut, dressed or broken, each wire gives the same answer or says that there is none; what "
        "a server refuses has a cause and a way on; any history makes a request that the server accepts.",
        (
            "tests/contract/test_model_bytes.py",
            "tests/contract/test_model_wires.py",
            "tests/contract/test_model_refusals.py",
            "tests/contract/test_model_requests.py",
        ),
    ),
    "spine.kill-client": Requirement(
        "Kill -9 of the client: the daemon goes on; a new client gets transcript, stream so far and what is pending.",
        ("tests/crash/test_kill_client.py",),
    ),
    "spine.kill-daemon": Requirement(
        "Kill -9 of the daemon: the same request is pending under the same id and number, approving it runs the tool "
        "exactly once and the model is not asked before; a running command has an unknown outcome and is not run again "
        "by itself; in mid-stream the model is asked again and there is one answer.",
        (_CRASH, "tests/crash/test_kill_anywhere.py"),
    ),
    "spine.stop": Requirement(
        "A daemon that is stopped ends what it began and says so; the next one goes on. One that nobody uses ends.",
        ("tests/crash/test_stop_daemon.py",),
    ),
    "durable.handoff": Requirement(
        "`agent-ls restart` with an answer streaming, an approval pending, a command running, a message queued and 20 "
        "windows attached, ten times: nothing is lost, no final answer comes twice, cursors go on, and less than a "
        "second is without service.",
        ("tests/crash/test_handoff.py", "tests/unit/runtime/test_drain.py"),
    ),
    "durable.upgrade": Requirement(
        "A newer editor or command line has the daemon replaced once; an older one or one as old never does.",
        ("tests/protocol/test_upgrade.py",),
    ),
    "durable.stuck": Requirement(
        "A daemon that is stopped is named within seconds, with the way out, and `restart --force` works.",
        ("tests/crash/test_stuck_daemon.py",),
    ),
    "durable.shutdown": Requirement(
        "SIGTERM and `stop` drain until a deadline, then leave the rest to recovery; how a daemon ended is on record.",
        ("tests/crash/test_shutdown.py", "tests/contract/ledger/test_ledger_instances.py"),
    ),
    "durable.reload": Requirement(
        "SIGHUP puts a new configuration to use as a whole; a broken one changes nothing and is said.",
        ("tests/crash/test_reload.py",),
    ),
    "durable.janitor": Requirement(
        "An invariant that does not hold at run time is logged by name, counted and put right by the recovery path.",
        ("tests/unit/runtime/test_janitor.py",),
    ),
    "hostile.arguments": Requirement(
        "Arguments of any size, depth or spelling cost little, are told as an error and harm no later request.",
        (f"{_CONTEXT}::test_calls_with_monstrous_arguments_are_errors_that_cost_little_and_harm_no_later_request",),
    ),
    "hostile.workspace": Requirement(
        "A workspace is a folder of this machine, whatever bytes its name is made of; all else is refused.",
        ("tests/protocol/test_workspaces.py",),
    ),
    "hostile.delete": Requirement(
        "A conversation is deleted in its turn, never from under a run; the same command twice says the same.",
        ("tests/protocol/test_deleting.py",),
    ),
    "ability.fork": Requirement(
        "A conversation goes on from a place of another one, with its history to the byte and without copying it; the "
        "parent may go on or be deleted, and is told once of what came of the fork.",
        (
            "tests/protocol/test_forks.py",
            "tests/protocol/test_merge_back.py",
            "tests/protocol/test_forks_of_two_daemons.py",
            "tests/contract/ledger/test_ledger_forks.py",
            "tests/crash/test_fork_crash.py",
        ),
    ),
    "spine.two-clients": Requirement(
        "Two clients on one conversation: same items in the same order; the first answer decides, the second, "
        "different one gets `already_decided` with who.",
        ("tests/protocol/test_two_clients.py",),
    ),
    "spine.start-race": Requirement(
        "20 parallel starts (no socket, stale socket, dead pid, foreign file): one daemon, 20 working links.",
        ("tests/protocol/test_start_race_daemon.py", "tests/protocol/test_start_race.py"),
    ),
    "spine.locks": Requirement(
        "Two conversations editing one file wait for each other; two files do not; two workspaces never do.",
        ("tests/protocol/test_locks.py", "tests/unit/core/test_locks.py", "tests/unit/runtime/test_lock_table.py"),
    ),
    "spine.trouble": Requirement(
        "No key, wrong key, unknown model, dead server, nonsense stream, unreadable config, full disk, read-only or "
        "network state directory: each a sentence that says what to do; nothing lost, nothing hung.",
        (
            "tests/protocol/test_trouble.py",
            "tests/contract/test_model_trouble.py",
            "tests/contract/ledger/test_ledger_full_disk.py",
            "tests/protocol/test_peers.py::test_the_nearest_mount_above_a_path_says_what_holds_it",
        ),
    ),
    "permissions.harmless": Requirement(
        "Commands that only look run unasked, under no lock, with the rule in the ledger; by trial, nothing that is "
        "let pass runs another program, writes, or reads what is not to be read.",
        (
            "tests/protocol/test_permissions.py",
            "tests/security/test_shell_fuzz.py",
            "tests/unit/core/test_commands.py",
            "tests/unit/adapters/tools/test_shell_looks.py",
        ),
    ),
    "permissions.hostile-workspace": Requirement(
        "A workspace gains nothing by its settings, programs, servers and links; without trust nothing in it is "
        "started.",
        ("tests/security/test_hostile_workspace.py",),
    ),
    "spine.self-approval": Requirement(
        "An agent that runs `agent-ls approve N` in its shell gets `permission_denied`.",
        ("tests/security/test_self_approval.py", "tests/protocol/test_peers.py"),
    ),
    "spine.queue": Requirement(
        "The queue is visible, editable, reorderable; a stop holds it; nothing said is dropped.",
        (
            "tests/protocol/test_queue.py",
            f"{_CRASH}::test_a_queued_message_runs_after_the_one_that_was_interrupted_by_it",
        ),
    ),
    "editor.approvals": Requirement(
        "In an editor without a plugin an approval is a diagnostic, its answers are code actions, hover and Show say "
        "all of it; it takes no keyboard, and what could not have been read decides nothing.",
        (
            "tests/protocol/test_plain_lsp.py",
            "tests/protocol/test_typed_client.py",
            "tests/editors/bare_neovim/test_stock_keys.py",
        ),
    ),
    "editor.documents": Requirement(
        "Reads see unsaved text; an edit of an open file goes through its window in one step, is verified by what the "
        "window then holds, and is never written to disk beneath it.",
        ("tests/protocol/test_open_documents.py", "tests/unit/editor/test_window_files.py"),
    ),
    "requests.revised": Requirement(
        "A request whose lines change while it waits is revised under its number, or taken back with a word to the "
        "model when it cannot run any more; whether a window or another program changed them. What changes elsewhere, "
        "and a window that goes away, change nothing.",
        (
            "tests/protocol/test_revised.py",
            "tests/unit/editor/test_documents.py::test_files_are_touched_by_changes_and_saves_and_not_by_a_window_that_goes",
        ),
    ),
    "requests.changed": Requirement(
        "A call can be changed before it is allowed: it is read and judged anew, bound by a digest of its own, the "
        "model's own input stays on record and the model is told. An edit that was allowed runs if its own lines are "
        "as they were shown, whatever else changed in the file; a preview holds all of it.",
        ("tests/protocol/test_edit_then_allow.py",),
    ),
    "hostile.files": Requirement(
        "A workspace that is gone is not made again by a write; a file with other hard links is asked for, whatever a "
        "rule allows; folders are made without following a link that was planted meanwhile.",
        (
            "tests/protocol/test_files.py",
            f"{_DISK}::test_folders_are_made_without_following_a_link_that_was_planted_meanwhile",
        ),
    ),
    "editor.interleavings": Requirement(
        "In 200 random interleavings of a typing person, another program and the agent on one file, no byte of any "
        "side is lost without an error that says so.",
        ("tests/protocol/test_interleavings.py",),
    ),
    "review.changes": Requirement(
        "The agent's edits are listed hunk by hunk, kept or taken back one by one, to the byte and only where its own "
        "lines are as it wrote them; through the window that has the file open; decided once, for every window.",
        ("tests/protocol/test_changes.py", "tests/unit/core/test_hunks.py"),
    ),
    "editor.documents-survive": Requirement(
        "Kill -9 of the daemon under open documents: the next one knows their text, what is unsaved stays so, a run "
        "that it takes over waits for the windows, and nothing is written to disk beneath them.",
        (
            "tests/protocol/test_replay.py",
            "tests/editors/neovim/test_unsaved.py",
            "tests/unit/bridge/test_mirror.py",
            "tests/unit/editor/test_returning.py",
        ),
    ),
    "wire.large": Requirement(
        "No entity on the wire is large, the model is told all of it, and a command id stands for one command.",
        ("tests/protocol/test_large.py",),
    ),
    "dispatch.steer": Requirement(
        "A steer joins the run at its next step, after results, is never lost, and its sender is told what came of it.",
        ("tests/protocol/test_steer.py", "tests/unit/core/test_steer.py"),
    ),
    "dispatch.restart": Requirement(
        "A message joins, waits, restarts or supersedes; its sender is told which; what is superseded is swallowed.",
        (
            "tests/protocol/test_lifecycle.py",
            "tests/unit/core/test_restart.py",
            "tests/unit/core/test_dispatch.py",
            "tests/unit/runtime/test_restarting.py",
        ),
    ),
    "retry.policy": Requirement(
        "A model in trouble is asked again as the table says; a wait is seen, on record, hurried, stopped, waited out.",
        (
            "tests/protocol/test_lifecycle.py",
            "tests/unit/core/test_retry.py",
            "tests/unit/runtime/test_asking_again.py",
        ),
    ),
    "durable.one-contract": Requirement(
        "Memory, SQLite and PostgreSQL give the same answers to the same history.",
        (
            "tests/contract/ledger/test_ledger_writing.py",
            "tests/contract/ledger/test_ledger_reading.py",
            "tests/contract/ledger/test_ledger_same.py",
        ),
    ),
    "durable.claims": Requirement(
        "Of several daemons on one database one may write a conversation, until it releases it or its lease has ended "
        "by the database's clock; whoever was taken over writes nothing more.",
        ("tests/contract/ledger/test_ledger_claims.py", "tests/contract/ledger/test_ledger_shared.py"),
    ),
    "durable.two-daemons": Requirement(
        "A daemon shows what another one holds, live and without gap or repeat; commands and answers given at either "
        "are decided once by the owner, and the same command has the same answer everywhere.",
        (
            "tests/protocol/test_two_daemons.py",
            "tests/protocol/test_stops_across_daemons.py",
            "tests/unit/editor/test_orders.py",
            "tests/unit/editor/test_window.py",
        ),
    ),
    "durable.takeover": Requirement(
        "What a daemon that died or fell silent owes is taken over within its lease and two seconds, at once after a "
        "clean stop; when it wakes up, it writes and says nothing as the owner and shows what the other one did.",
        ("tests/crash/test_takeover.py", "tests/unit/runtime/test_feed.py"),
    ),
    "durable.server-lost": Requirement(
        "A database server that goes away at any moment loses nothing that was acknowledged, has nothing committed "
        "twice, holds nobody longer than the limit, and is found again.",
        (
            "tests/contract/ledger/test_postgres_loss.py",
            "tests/contract/ledger/test_ledger_crash.py",
            "tests/protocol/test_postgres_daemon.py",
        ),
    ),
    "durable.server-schema": Requirement(
        "One daemon makes or migrates the schema, a newer one is left alone, events cannot be changed, every sign is "
        "kept, and a password is never shown.",
        ("tests/contract/ledger/test_postgres_schema.py",),
    ),
    "durable.simulation": Requirement(
        "In thousands of seeded histories of several daemons, with a crash, a stall past the lease, a lost answer or a "
        "clock set back at any await: nothing acknowledged is lost or answered twice, no command runs twice unasked, "
        "a daemon that was taken over writes nothing, the invariants hold after every commit, and all comes to rest.",
        ("tests/simulation/test_histories.py", "tests/simulation/test_replay.py"),
    ),
    "durable.crash-matrix": Requirement(
        "Kill -9 of the daemon at every named point of a run, on SQLite and PostgreSQL, with somebody looking or "
        "nobody: the next one goes on, nothing acknowledged is lost, nothing is answered twice, no effect twice "
        "unasked, each call has one truthful result, and the conversation can be used.",
        ("tests/crash/test_matrix.py",),
    ),
    "durable.torture": Requirement(
        "Kill -9 at random times under windows that send, steer, queue, stop and answer: no acknowledged message is "
        "lost or answered twice, no gap, no command runs twice unasked, no result says what did not happen.",
        ("tests/crash/test_torture.py",),
    ),
    "durable.attempts": Requirement(
        "A run that brings down each daemon that works on it is begun five times, ever later, and then ends with the "
        "reason; the count is seen in `status`.",
        ("tests/crash/test_attempts.py", "tests/unit/runtime/test_effects.py", "tests/unit/core/test_effects.py"),
    ),
    "durable.takeover-time": Requirement(
        "On one machine a conversation goes on within a second of the first connect after kill -9.",
        ("tests/crash/test_takeover_time.py",),
    ),
    "durable.void-view": Requirement(
        "A daemon whose view of a conversation is void ends its work there, forgets it and looks whose it is; a ledger "
        "that is away for a moment delays a run and ends none.",
        ("tests/unit/runtime/test_fenced.py",),
    ),
    "durable.export": Requirement(
        "What was exported comes back by an import, the same but for its ids; nothing of it is run and it grants "
        "nothing. However the file was cut, joined, garbled or shuffled, every whole record is taken, what is lost is "
        "told, and what comes of it is sound.",
        (
            "tests/protocol/test_exchange.py",
            "tests/unit/core/test_imported.py",
            "tests/unit/adapters/ledger/test_torn_exports.py",
        ),
    ),
    "durable.old-ledgers": Requirement(
        "A ledger that an earlier version wrote is read by every later one, and its conversations go on.",
        ("tests/replay/test_old_ledgers.py",),
    ),
    "durable.deleted": Requirement(
        "A deleted conversation leaves nothing: no card, no output on disk, no blob of its own after a while; what any "
        "event names stays. Archived conversations are deleted after the time that was set, and no others.",
        ("tests/unit/runtime/test_housekeeping.py", "tests/contract/ledger/test_ledger_sweep.py"),
    ),
    "delegate.subagents": Requirement(
        "A task is done by a conversation of its own: bounded in number and depth, its requests in the same inbox with "
        "their origin, its progress and cost in its parent, stopped alone or with it, its agent of the person's own.",
        ("tests/protocol/test_subagents.py", "tests/protocol/test_subagent_bounds.py"),
    ),
    "delegate.subagents-crash": Requirement(
        "Whenever the daemon dies or is restarted, a subagent recovers by itself and its parent is told once.",
        ("tests/crash/test_subagent_crash.py",),
    ),
    "context.compaction": Requirement(
        "A conversation is compacted by itself, by the person or because the server says so; it is busy meanwhile, can "
        "be stopped, and nothing of it is lost; a summary that is no use is given up with the numbers, one that fails "
        "is replaced by a digest.",
        ("tests/protocol/test_compaction.py", "tests/protocol/test_overflow.py", "tests/crash/test_compaction_kill.py"),
    ),
    "delegate.hooks": Requirement(
        "Hooks of the person, and of nobody else, change, refuse or add to what happens; one that fails is shown and "
        "ignored, and none is in the way of a stop.",
        ("tests/protocol/test_hooks.py", "tests/unit/adapters/host/test_hooks.py", "tests/unit/core/test_hooks.py"),
    ),
    "delegate.notices": Requirement(
        "The desktop shows one notice for what came together, and only while no window has the focus.",
        ("tests/protocol/test_notices.py",),
    ),
    "delegate.plans": Requirement(
        "In mode plan nothing changes but a plan can be proposed: accepted, as it is or changed, it is carried out in "
        "a run of its own, refused it goes back with the reason; of two windows one decides and the other is told.",
        ("tests/protocol/test_plans.py",),
    ),
    **TOOLS,
    **EDITORS,
    **CASES,
    **EDITOR_CASES,
}
