"""What agent-ls promises whatever dies, each with the tests that pin it, and what it does not promise.

Owns the lists. `scripts/guarantees.py` makes docs/guarantees.md of them; `tests/architecture/test_guarantees.py` sees
that every test is there and that the page is as it should be. A proof is `file::test`.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Guarantee:
    promise: str
    proofs: tuple[str, ...]


_MATRIX: Final = "tests/crash/test_matrix.py::test_whatever_the_point_of_its_death_the_next_daemon_goes_on"
_TORTURE: Final = (
    "tests/crash/test_torture.py::test_killed_at_random_times_under_busy_windows_nothing_is_lost_or_done_twice"
)
_KILL: Final = "tests/crash/test_kill_daemon.py::test_"
_WRITING: Final = "tests/contract/ledger/test_ledger_writing.py::test_"
_CLAIMS: Final = "tests/contract/ledger/test_ledger_claims.py::test_"
_COMPACTED: Final = "tests/crash/test_compaction_kill.py::test_"
_FULL: Final = "tests/contract/ledger/test_ledger_full_disk.py::test_"

GUARANTEES: Final = (
    Guarantee(
        "A message that was acknowledged is never lost.",
        (
            _MATRIX,
            _TORTURE,
            "tests/contract/ledger/test_ledger_crash.py::test_what_was_acknowledged_survives_kill_9",
            "tests/contract/ledger/test_ledger_crash.py::test_what_a_server_acknowledged_survives_kill_9_of_the_daemon",
        ),
    ),
    Guarantee(
        "A message is never answered twice; a command that is sent again gets the answer of the first time.",
        (
            _MATRIX,
            _TORTURE,
            f"{_KILL}between_commit_and_reply_the_same_command_gives_the_same_answer",
            f"{_WRITING}a_command_that_comes_again_changes_nothing_and_gets_the_first_answer",
        ),
    ),
    Guarantee(
        "A command runs at most once unless a person says that it is to run again.",
        (
            _MATRIX,
            _TORTURE,
            f"{_KILL}a_command_that_was_running_has_an_unknown_outcome_and_a_person_says_what_now",
            "tests/unit/runtime/test_take_over.py::test_where_nobody_knows_the_person_decides",
        ),
    ),
    Guarantee(
        "Every call that a model was told of has exactly one result, and the result says what happened.",
        (_MATRIX, _TORTURE, "tests/unit/runtime/test_take_over.py::test_what_was_found_out_is_the_result"),
    ),
    Guarantee(
        "A conversation is compacted in one commit: before it nothing is shortened, after it all is, once; and no item "
        "is ever lost by that.",
        (
            f"{_COMPACTED}a_daemon_killed_while_the_summary_is_written_has_not_compacted_and_the_next_one_does",
            f"{_COMPACTED}a_run_whose_daemon_is_killed_while_it_is_compacted_goes_on_and_is_compacted_once",
        ),
    ),
    Guarantee(
        "A fork has what it began with, byte for byte for its model, whatever becomes of its parent.",
        (
            "tests/protocol/test_forks.py::test_the_model_is_sent_the_same_bytes_as_before",
            "tests/protocol/test_forks.py::test_a_fork_outlives_its_parent_and_the_daemon",
            "tests/contract/ledger/test_ledger_forks.py::test_what_the_parent_does_later_does_not_change_it",
            "tests/contract/ledger/test_ledger_forks.py::test_it_stays_whole_when_its_parent_is_deleted",
            "tests/crash/test_fork_crash.py::test_whenever_the_daemon_dies_there_is_one_fork_and_it_goes_on",
        ),
    ),
    Guarantee(
        "Sequence numbers of a conversation have no gap; an event is never changed or removed.",
        (
            _TORTURE,
            f"{_WRITING}eight_writers_lose_nothing",
            "tests/contract/ledger/test_ledger_file.py::test_an_event_cannot_be_changed_or_removed",
            "tests/contract/ledger/test_postgres_schema.py::test_an_event_cannot_be_changed_or_removed",
        ),
    ),
    Guarantee(
        "A window hears every event after its attach once and in order.",
        (
            _TORTURE,
            "tests/unit/editor/test_window.py::"
            "test_what_the_answer_of_an_attach_holds_already_is_not_told_when_the_feed_hears_of_it_later",
            "tests/unit/editor/test_window.py::test_what_was_read_as_missed_and_heard_meanwhile_is_told_once",
        ),
    ),
    Guarantee(
        "What waits for a person is the same after a death: same id, same number, same digest.",
        (
            f"{_KILL}a_pending_approval_is_the_same_after_it_and_runs_its_tool_exactly_once",
            f"{_KILL}killed_twice_with_an_approval_pending_its_number_stays_and_the_next_one_is_new",
            "tests/crash/test_question.py::test_a_question_is_still_there_after_it_and_its_answer_is_told_once",
        ),
    ),
    Guarantee(
        "A request is decided once, by the first answer, whoever gives it.",
        (
            f"{_KILL}an_answer_whose_reply_was_lost_counts_once",
            f"{_KILL}decisions_taken_before_it_are_kept_and_the_rest_is_still_asked",
        ),
    ),
    Guarantee(
        "A stop that was noted is finished by the next daemon; nothing is resumed.",
        (f"{_KILL}an_interrupt_that_was_noted_is_finished_and_nothing_is_resumed",),
    ),
    Guarantee(
        "A window that is killed changes nothing for the run; the next window is shown all of it.",
        (
            "tests/crash/test_kill_client.py::test_killed_in_mid_stream_the_next_window_gets_the_text_so_far_and_the_rest",
            "tests/crash/test_kill_client.py::"
            "test_killed_while_a_command_runs_the_command_goes_on_and_its_output_is_kept",
        ),
    ),
    Guarantee(
        "On one machine a conversation goes on within a second of the first connect after a death.",
        (
            "tests/crash/test_takeover_time.py::"
            "test_from_the_first_connect_to_a_conversation_that_goes_on_takes_less_than_a_second",
        ),
    ),
    Guarantee(
        "On another machine it goes on when the lease of the dead daemon has ended, at most two seconds later.",
        ("tests/crash/test_takeover.py::test_after_kill_9_another_daemon_goes_on_within_the_lease_and_two_seconds",),
    ),
    Guarantee(
        "A daemon that was taken over writes nothing and says nothing more as the owner.",
        (
            f"{_WRITING}a_stale_epoch_writes_nothing",
            f"{_CLAIMS}a_lease_that_ended_by_the_clock_of_the_database_permits_a_takeover",
            "tests/crash/test_takeover.py::test_who_slept_beyond_its_lease_streams_nothing_and_shows_what_the_other_did",
        ),
    ),
    Guarantee(
        "A database server whose clock is set back keeps no dead daemon's conversations from the others.",
        (
            "tests/contract/ledger/test_ledger_clocks.py::"
            "test_a_server_whose_clock_is_set_back_keeps_no_dead_daemon_alive",
            "tests/contract/ledger/test_ledger_clocks.py::test_a_daemon_has_looked_before_anybody_asks_it",
        ),
    ),
    Guarantee(
        "A run that brings down each daemon that works on it is begun five times, ever later, and then ends with the "
        "reason; a run of which anything comes outlives any number of daemons.",
        (
            "tests/unit/runtime/test_effects.py::test_the_sixth_daemon_ends_it_and_says_so_and_the_next_message_works",
            "tests/unit/runtime/test_effects.py::test_a_model_that_was_heard_begins_the_count_anew",
            "tests/crash/test_attempts.py::test_each_death_of_which_nothing_came_counts_and_a_restart_does_not",
        ),
    ),
    Guarantee(
        "A daemon that slept and was not taken over goes on.",
        (
            f"{_CLAIMS}an_owner_that_overslept_and_was_not_taken_over_goes_on",
            "tests/crash/test_takeover.py::test_who_slept_and_was_not_taken_over_goes_on",
        ),
    ),
    Guarantee(
        "A restart or an upgrade loses nothing, answers nothing twice and is hardly noticed.",
        (
            "tests/crash/test_handoff.py::test_ten_in_a_row_under_20_windows_lose_nothing_and_answer_nothing_twice",
            "tests/crash/test_handoff.py::"
            "test_the_gap_between_the_last_answer_of_one_and_the_first_of_the_next_is_under_a_second",
        ),
    ),
    Guarantee(
        "A full disk refuses what is new before anything is run, keeps what ends work, and heals by itself.",
        (
            f"{_FULL}a_real_full_disk_loses_nothing_and_heals",
            f"{_FULL}a_full_disk_refuses_a_command_and_keeps_a_result",
        ),
    ),
    Guarantee(
        "Another program that holds the ledger's file delays; beyond 5 s it is said, and nothing is lost.",
        (
            "tests/crash/test_ledger_in_use.py::"
            "test_8_windows_with_200_appends_each_lose_nothing_while_another_program_holds_the_file",
        ),
    ),
    Guarantee(
        "A ledger that can only be read refuses commands with the reason, is shown all the same, and heals by itself.",
        (
            "tests/contract/ledger/test_ledger_read_only.py::test_a_file_that_can_only_be_read",
            "tests/contract/ledger/test_ledger_read_only.py::test_a_server_that_can_only_be_read",
        ),
    ),
    Guarantee(
        "Damaged text in the ledger is said wherever it is read, with what to do, and keeps nobody from the rest.",
        (
            "tests/contract/ledger/test_ledger_damaged.py::test_every_read_says_so_and_lists_show_the_rest",
            "tests/contract/ledger/test_ledger_damaged.py::test_the_answer_to_a_command_that_is_damaged_is_not_made_up",
        ),
    ),
    Guarantee(
        "A migration may be killed anywhere; a ledger of a newer version is left alone.",
        (
            "tests/contract/ledger/test_ledger_migration_crash.py::"
            "test_killed_before_any_statement_of_a_migration_a_file_is_migrated_by_the_next",
            "tests/contract/ledger/test_ledger_migration_crash.py::"
            "test_killed_before_any_statement_of_a_migration_a_server_is_migrated_by_the_next",
            "tests/contract/ledger/test_ledger_file.py::test_a_newer_schema_is_left_as_it_is",
            "tests/contract/ledger/test_postgres_schema.py::test_a_newer_schema_is_left_as_it_is",
        ),
    ),
)

NOT_PROMISED: Final = (
    "**Between the last look at the epoch and `exec`.** A daemon on a shared ledger that is suspended exactly there, "
    "for longer than its lease, starts a command after it was taken over. Its result is refused and the successor asks "
    "about the call. With SQLite the state directory's lock makes that impossible.",
    "**What began in time goes on.** A command that a suspended daemon had started goes on when that daemon does. It "
    "was started once; what became of it is `unknown` to the successor.",
    "**An edit of an open file that was on its way to an editor** when the daemon died ends as `unknown`, unless the "
    "file shows what happened. Nothing is written to the disk beneath the editor, and the person is asked.",
    "**A command whose result was lost** is not looked into: it may have done anything between nothing and all. It is "
    "said to be `unknown`, what it left running is ended, and a person decides. Who says `run it again` may have its "
    "effects twice.",
    "**A request to the model** that was under way is made again, and may be charged twice. Its answer is kept once.",
    "**Text that is still being said** is no fact: of what was on the screen the last second may be missing after a "
    "death, and the model may say something else.",
    "**A process that hides** (another session, its environment emptied) is not found when the command that started it "
    "is ended.",
    "**A disk that lies.** What was acknowledged was handed to the disk with a sync. A disk that says so too early "
    "loses it with the power, and a file that tools write is only as safe as its file system.",
    "**A daemon that dies again and again.** The bridge says so and goes on trying; a command over which six of them "
    "have died is answered with an error. It may have been committed all the same.",
    "**Times** hold for a machine with a processor to spare: a start loads a hundred modules.",
)
