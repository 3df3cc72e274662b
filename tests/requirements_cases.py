"""Cases: faults that users of other tools reported, each right behaviour with the tests that show it."""

from typing import Final

from tests.requirement import Requirement

_WIRES = "tests/protocol/test_cases_on_wires.py"
_STREAMS = "tests/protocol/test_odd_streams_on_wires.py"
_TURNS = "tests/protocol/test_odd_turns_on_wires.py"
_LIFE = "tests/protocol/test_lifecycle.py"
_DECODE = "tests/unit/adapters/models/test_chat_decode.py"
_SSE = "tests/unit/adapters/models/test_sse.py"
_CONTEXT = "tests/protocol/test_context.py"
_PERMISSIONS = "tests/protocol/test_permissions.py"
_CARDS = "tests/protocol/test_cards.py"
_POLICY = "tests/unit/core/test_policy.py"
_SHELL = "tests/unit/adapters/tools/test_shell.py"
_SHELLS = "tests/unit/adapters/tools/test_shell_processes.py"
_FILES = "tests/protocol/test_files.py"
_EDITS = "tests/unit/core/test_edits.py"
_CHANGES = "tests/unit/adapters/tools/test_file_changes.py"
_DISK = "tests/unit/adapters/host/test_files.py"

CASES: Final[dict[str, Requirement]] = {
    "case.B01": Requirement(
        "Text is equal byte for byte wherever a chunk ends inside a character.",
        (
            f"{_SSE}::test_a_character_cut_in_two_stays_whole",
            f"{_DECODE}::test_any_cut_of_the_bytes_gives_the_same_reply_and_frames",
        ),
    ),
    "case.B03": Requirement(
        "Keep-alive frames of every kind are ignored and count as signs of life.",
        (f"{_SSE}::test_signs_of_life_are_no_events", f"{_DECODE}::test_keep_alives_change_nothing"),
    ),
    "case.B04": Requirement(
        "An answer is the same in every dress of the event stream; a last event without its blank line was cut.",
        (f"{_SSE}::test_one_event_in_all_its_dresses", f"{_SSE}::test_a_last_event_without_its_blank_line_was_cut"),
    ),
    "case.B05": Requirement(
        "A call with empty arguments runs with an empty object and is replayed as one.",
        (
            f"{_WIRES}::test_odd_calls_are_paired_answered_and_harm_no_later_request",
            f"{_STREAMS}::test_a_tool_without_parameters_runs_with_none_and_one_that_needs_some_says_which",
            f"{_CONTEXT}::test_a_call_with_empty_arguments_counts_as_an_empty_object",
        ),
    ),
    "case.B07": Requirement(
        "Call ids that a server uses twice are told apart, each result goes with its own call.",
        (
            f"{_WIRES}::test_odd_calls_are_paired_answered_and_harm_no_later_request",
            f"{_CONTEXT}::test_ids_that_a_server_uses_twice_are_told_apart",
        ),
    ),
    "case.B11": Requirement(
        "An answer that is cut is asked for anew, a few times; what was shown stays as what it is.",
        (
            f"{_LIFE}::test_an_answer_that_is_cut_stays_as_what_it_is_and_is_asked_for_anew",
            f"{_STREAMS}::test_an_end_without_its_reason_is_an_end_once",
            f"{_STREAMS}::test_a_stream_that_closes_without_its_end_runs_no_tool_and_is_asked_for_anew",
        ),
    ),
    "case.B14": Requirement(
        "What a server says of when to come back counts up to a bound; the wait is seen, hurried and stopped.",
        (
            f"{_LIFE}::test_a_server_in_trouble_is_asked_again_seen_and_hurried",
            f"{_STREAMS}::test_what_a_server_says_of_when_to_come_back_counts_where_it_makes_sense",
            f"{_STREAMS}::test_a_date_is_waited_for_and_the_last_error_is_shown_when_the_tries_are_used_up",
            "tests/unit/core/test_retry.py::test_the_server_may_say_when",
            "tests/unit/core/test_retry.py::test_what_it_wants_too_late_ends_the_run_and_says_when",
        ),
    ),
    "case.B15": Requirement(
        "A server that falls silent is given up within the limit and asked again.",
        (
            f"{_LIFE}::test_a_server_that_falls_silent_is_asked_again",
            f"{_STREAMS}::test_silence_ends_within_its_limit_and_a_stop_at_once",
        ),
    ),
    "case.B12": Requirement(
        "Chunks without choices are no error, and usage is counted once.",
        (
            f"{_DECODE}::test_choices_may_be_empty_or_missing_and_usage_is_counted_once",
            f"{_STREAMS}::test_chunks_that_hold_nothing_are_no_error_and_usage_is_counted_once",
        ),
    ),
    "case.B17": Requirement(
        "No request holds an empty text, whatever was said or came out.",
        (
            f"{_WIRES}::test_odd_calls_are_paired_answered_and_harm_no_later_request",
            f"{_TURNS}::test_a_message_of_blanks_is_refused_and_harms_nothing",
            f"{_CONTEXT}::test_no_text_that_is_sent_is_empty",
        ),
    ),
    "case.B19": Requirement(
        "Results follow their calls at once; what else was said comes after; images stand where they may.",
        (
            f"{_WIRES}::test_denials_messages_in_between_and_stops_are_told_as_what_they_were",
            f"{_CONTEXT}::test_a_message_sent_while_a_tool_runs_comes_after_its_result",
            f"{_CONTEXT}::test_an_image_in_a_result_is_sent_where_images_may_stand",
            f"{_TURNS}::test_a_picture_in_a_result_stands_where_that_wire_takes_one",
        ),
    ),
    "case.B20": Requirement(
        "A tool that is not offered is an error that names those that are; nothing runs out of plain text.",
        (
            f"{_WIRES}::test_odd_calls_are_paired_answered_and_harm_no_later_request",
            f"{_CONTEXT}::test_a_tool_that_is_not_offered_is_an_error_that_names_those_that_are",
            f"{_CONTEXT}::test_a_model_that_repeats_a_wrong_call_is_stopped",
            f"{_CONTEXT}::test_text_that_shows_a_call_runs_nothing",
            f"{_TURNS}::test_no_other_name_reaches_a_tool_and_text_runs_nothing",
        ),
    ),
    "case.B28": Requirement(
        "The reason of a denial goes with its own call and no other.",
        (
            f"{_WIRES}::test_denials_messages_in_between_and_stops_are_told_as_what_they_were",
            "tests/protocol/test_main_job.py::test_calls_of_one_step_are_asked_together_and_each_denial_keeps_its_own_reason",
        ),
    ),
    "case.B29": Requirement(
        "Denied, interrupted and not run are told apart, truthfully.",
        (
            f"{_WIRES}::test_denials_messages_in_between_and_stops_are_told_as_what_they_were",
            f"{_TURNS}::test_denied_interrupted_and_not_run_are_three_things",
            f"{_CONTEXT}::test_a_denied_call_is_told_as_denied_and_a_stopped_one_as_not_run",
            f"{_CONTEXT}::test_stopped_while_a_command_runs_the_model_is_told_that_it_may_have_had_effects",
            f"{_CONTEXT}::test_stopped_in_mid_stream_the_text_so_far_stays_and_the_next_message_is_taken",
        ),
    ),
    "case.B31": Requirement(
        "A rule that an answer keeps is shown before, is literal, and reaches nothing but what it says.",
        (
            f"{_PERMISSIONS}::test_an_always_keeps_the_rule_that_it_showed_and_no_more",
            f"{_PERMISSIONS}::test_an_always_never_reaches_further_than_it_says",
            f"{_POLICY}::test_always_is_offered_only_with_the_literal_rule_it_would_store",
        ),
    ),
    "case.B32": Requirement(
        "What would not be seen is shown by name, a long command keeps its tail, and the raw bytes are what runs.",
        (
            f"{_CARDS}::test_what_would_not_be_seen_is_shown_by_name_in_title_card_and_preview",
            f"{_CARDS}::test_the_raw_bytes_are_what_runs_and_what_is_on_record",
            "tests/unit/core/test_display.py",
        ),
    ),
    "case.B38": Requirement(
        "A guarded file is guarded under every name it has: links, mounts, another case where the volume folds.",
        (
            f"{_CARDS}::test_a_guarded_file_is_guarded_under_its_other_names",
            "tests/unit/adapters/host/test_identity.py",
            f"{_POLICY}::test_where_the_volume_folds_case_another_spelling_is_the_same_file",
        ),
    ),
    "case.B33": Requirement(
        "Untouched lines keep their endings and the last its lack of one; an edit that changes no byte is an error.",
        (
            f"{_FILES}::test_each_case_through_the_whole_daemon",
            f"{_EDITS}::test_lines_keep_their_endings_and_new_ones_take_those_around",
            f"{_EDITS}::test_what_cannot_be_meant_is_refused_by_name",
        ),
    ),
    "case.B34": Requirement(
        "A BOM is kept if it was there and never added; line 1 matches without it; UTF-16 is edited right.",
        (
            f"{_FILES}::test_each_case_through_the_whole_daemon",
            f"{_EDITS}::test_every_encoding_keeps_its_other_bytes",
            f"{_CHANGES}::test_a_rewrite_keeps_how_the_file_is_written",
        ),
    ),
    "case.B35": Requirement(
        "A file that is not UTF-8 keeps all other bytes, or the edit is refused; the read says what it is.",
        (
            f"{_FILES}::test_each_case_through_the_whole_daemon",
            f"{_EDITS}::test_every_encoding_keeps_its_other_bytes",
            f"{_EDITS}::test_bytes_outside_an_edit_never_change",
            f"{_EDITS}::test_reading_bytes_as_text_loses_none",
            "tests/unit/adapters/tools/test_read.py::test_an_encoding_is_named",
        ),
    ),
    "case.B36": Requirement(
        "A link stays a link and its target is changed; mode, owner and hard links stay; success follows a read-back.",
        (
            f"{_FILES}::test_links_modes_and_hard_links_survive_an_edit",
            f"{_DISK}::test_a_file_is_swapped_with_mode_and_nothing_left_beside_it",
            f"{_DISK}::test_a_chain_of_links_is_followed_and_stays",
            f"{_DISK}::test_a_dangling_link_gets_its_target",
            f"{_DISK}::test_a_hard_link_is_kept_by_writing_in_place",
        ),
    ),
    "case.B39": Requirement(
        "Text that differs by normalisation alone is said to; a file name is found in either form; what is written is "
        "what was asked, byte for byte.",
        (
            f"{_FILES}::test_each_case_through_the_whole_daemon",
            f"{_DISK}::test_a_name_with_its_accents_in_another_form_is_found",
        ),
    ),
    "case.B40": Requirement(
        "The content decides whether a file changed since it was read, its times do not.",
        (
            f"{_CHANGES}::test_content_decides_what_changed_and_time_does_not",
            f"{_CHANGES}::test_reading_a_part_is_knowing_the_whole_by_its_hash",
            f"{_FILES}::test_a_file_that_changed_since_it_was_read_is_told_by_its_content_alone",
        ),
    ),
    "case.B42": Requirement(
        "No edit at a place that was not asked for: two matches, a loose one, an empty or unchanged text are errors.",
        (
            f"{_FILES}::test_each_case_through_the_whole_daemon",
            f"{_EDITS}::test_two_matches_are_named_by_line",
            f"{_EDITS}::test_a_block_whose_middle_is_wrong_is_not_stretched_to_fit",
            f"{_EDITS}::test_replacing_all_does_not_look_into_what_it_put_there",
            f"{_EDITS}::test_what_cannot_be_meant_is_refused_by_name",
        ),
    ),
    "case.B43": Requirement(
        "Nothing in a new text is expanded, nothing in an old one is a pattern.",
        (f"{_FILES}::test_each_case_through_the_whole_daemon", f"{_EDITS}::test_nothing_in_the_new_text_is_expanded"),
    ),
    "case.B44": Requirement(
        "A pipe, a socket, a device, a huge or a binary file is refused by its type before it is opened; everybody "
        "else is served meanwhile.",
        (
            f"{_FILES}::test_what_could_hold_the_daemon_up_is_refused_at_once_and_others_are_served",
            f"{_DISK}::test_what_could_hold_us_up_is_refused_at_once",
            "tests/unit/adapters/tools/test_search.py::test_links_devices_and_binary_files_are_passed_over",
        ),
    ),
    "case.B60": Requirement(
        "A very long conversation is shown by pages, listed, forked and stopped without its whole history being read.",
        ("tests/protocol/test_long_conversation.py", "tests/contract/ledger/test_long_history.py"),
    ),
    "case.B72": Requirement(
        "Wherever a history is cut, the request for its summary and the one after it are taken by every wire; a call "
        "and its result stay or go together, open calls stay, thoughts stay whole.",
        ("tests/contract/test_compaction_requests.py",),
    ),
    "case.B73": Requirement(
        "After a compaction the person's words, open and done steps, the plan and denials are there word for word; a "
        "file has to be read again before it is edited.",
        ("tests/protocol/test_compaction.py::test_what_counts_is_put_in_again_whatever_the_summary_says",),
    ),
    "case.B74": Requirement(
        "An overflow is seen however the server says it, compacted and asked again; a plain bad request is none; the "
        "size is looked at before a smaller model is asked.",
        ("tests/protocol/test_overflow.py",),
    ),
    "case.B54": Requirement(
        "One clock writes and judges a lease, whatever those of the daemons say; a daemon that slept is fenced if it "
        "was taken over and goes on if it was not; a clock set back reorders nothing.",
        (
            "tests/contract/ledger/test_ledger_clocks.py",
            "tests/contract/ledger/test_ledger_claims.py::test_an_owner_that_overslept_and_was_not_taken_over_goes_on",
            "tests/unit/runtime/test_batch.py::"
            "test_what_was_learned_last_stays_so_for_a_successor_though_the_clock_was_set_back",
        ),
    ),
    "case.B55": Requirement(
        "Eight windows with 200 appends each lose nothing and get nothing twice, also while another program holds the "
        "file for 3 s; for 8 s they are told. Of many who start on an empty ledger one makes the schema.",
        (
            "tests/crash/test_ledger_in_use.py",
            "tests/contract/ledger/test_ledger_writing.py::test_eight_writers_lose_nothing",
            "tests/contract/ledger/test_postgres_schema.py::test_four_daemons_that_start_on_an_empty_database_make_one_schema",
        ),
    ),
    "case.B57": Requirement(
        "A full disk refuses a message before any tool runs and says so; after space is back it works without a "
        "restart, and nothing acknowledged is missing.",
        (
            "tests/contract/ledger/test_ledger_full_disk.py",
            "tests/protocol/test_trouble.py::"
            "test_a_full_disk_refuses_what_is_new_keeps_what_was_acknowledged_and_heals",
        ),
    ),
    "case.B58": Requirement(
        "Killed before any statement of a migration, a ledger is what it was, and the next one finishes; a newer "
        "schema is left alone.",
        (
            "tests/contract/ledger/test_ledger_migration_crash.py",
            "tests/contract/ledger/test_ledger_file.py::test_a_newer_schema_is_left_as_it_is",
            "tests/contract/ledger/test_postgres_schema.py::test_a_newer_schema_is_left_as_it_is",
        ),
    ),
    "case.B46": Requirement(
        "A time limit, a cancel and the daemon's end leave nothing of a command's processes.",
        (
            f"{_SHELLS}::test_a_time_limit_ends_grandchildren_that_ignore_it",
            f"{_SHELLS}::test_a_cancelled_command_is_gone_when_the_cancelling_is_over",
            f"{_SHELLS}::test_a_process_that_moved_to_a_session_of_its_own_is_ended_too",
            f"{_SHELLS}::test_a_killed_daemon_leaves_enough_to_end_what_still_runs_and_tell_what_was_said",
        ),
    ),
    "case.B47": Requirement(
        "A flood of output costs bounded memory, keeps both ends and stalls nothing.",
        (f"{_SHELLS}::test_a_flood_is_drained_in_bounded_memory_and_the_command_is_not_stalled",),
    ),
    "case.B48": Requirement(
        "Output that is no text becomes text; how a command ended is said, a signal as one.",
        (
            f"{_SHELL}::test_bytes_that_are_no_text_become_text",
            f"{_SHELL}::test_random_bytes_and_a_name_that_is_no_text_stay_valid",
            f"{_SHELL}::test_ten_thousand_steps_of_a_progress_bar_are_one_line",
            f"{_SHELL}::test_how_it_ended_is_said",
        ),
    ),
    "case.B49": Requirement(
        "What would wait for a person fails fast.", (f"{_SHELL}::test_nothing_waits_for_a_person",)
    ),
    "case.B50": Requirement(
        "A folder that is gone falls back to the workspace, and says so; nothing depends on the daemon's own folder.",
        (
            f"{_SHELL}::test_a_deleted_folder_falls_back_to_the_workspace_and_says_so",
            f"{_SHELL}::test_a_workspace_that_is_gone_is_said_and_another_folder_still_works",
            "tests/protocol/test_start_race.py",
        ),
    ),
    "case.B51": Requirement(
        "No secret of the daemon in a child, in what the system shows of it, in ledger or log; environments by window.",
        (
            "tests/security/test_secrets.py",
            "tests/security/test_configured_secrets.py",
            "tests/unit/core/test_masking.py",
        ),
    ),
}
