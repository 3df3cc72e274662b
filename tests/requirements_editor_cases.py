"""Cases of cases.md that are about editors and their links, each with the tests that show it."""

from typing import Final

from tests.requirement import Requirement

_WIRES = "tests/protocol/test_cases_on_wires.py"
_TURNS = "tests/protocol/test_odd_turns_on_wires.py"
_CRASH = "tests/crash/test_kill_daemon.py"
_EDITORS = "tests/protocol/test_editor_cases.py"
_ODD = "tests/protocol/test_odd_clients.py"

EDITOR_CASES: Final[dict[str, Requirement]] = {
    "case.B23": Requirement(
        "A window that comes late, or back, is shown what waits from state, not from events that it missed.",
        (
            "tests/protocol/test_plain_lsp.py::test_what_waits_is_marked_in_a_window_that_comes_late_and_again_for_a_new_daemon",
            "tests/protocol/test_windows.py::test_a_window_that_reloads_and_one_that_comes_late_are_shown_what_waits_from_state",
        ),
    ),
    "case.B25": Requirement(
        "Decisions of a batch that were taken before a restart are kept; the batch goes to the model as a whole.",
        (
            f"{_WIRES}::test_denials_messages_in_between_and_stops_are_told_as_what_they_were",
            f"{_CRASH}::test_decisions_taken_before_it_are_kept_and_the_rest_is_still_asked",
            f"{_TURNS}::test_decisions_over_a_restart_go_to_the_model_as_one_batch_of_the_newest_calls",
            f"{_EDITORS}::test_parallel_calls_decided_before_and_after_a_death_go_to_the_model_in_one_batch",
        ),
    ),
    "case.B27": Requirement(
        "A window that is asked and answers nothing, an error, null or what was not offered decides nothing and holds "
        "nothing back.",
        (
            f"{_TURNS}::test_a_window_that_is_asked_and_decides_nothing_holds_nothing_back",
            "tests/protocol/test_windows.py::test_a_window_that_was_asked_and_goes_without_a_word_holds_nothing_back",
            "tests/protocol/test_surface.py::test_who_asked_for_prompts_by_message_answers_there_and_nothing_else_counts",
        ),
    ),
    "case.B70": Requirement(
        "A conversation's root is fixed when it begins: neither the focus nor folders that come or go change it.",
        (
            "tests/protocol/test_windows.py::test_a_window_of_several_folders_sees_each_and_a_conversation_keeps_the_one_it_was_begun_in",
            f"{_EDITORS}::test_a_conversation_in_a_worktree_asks_before_it_writes_in_the_main_tree_and_stays_in_its_own",
            f"{_EDITORS}::test_a_path_that_begins_with_the_name_of_its_root_is_an_error_that_names_both",
        ),
    ),
    "case.B61": Requirement(
        "The mirror of a window's text does not drift in utf-8, utf-16 or utf-32; edits are sent as agreed on.",
        (
            "tests/unit/core/test_text.py",
            "tests/protocol/test_random_edits.py",
            "tests/protocol/test_open_documents.py::test_a_dirty_buffer_is_read_and_edited_in_one_step_and_the_disk_is_untouched",
        ),
    ),
    "case.B63": Requirement(
        "A URI that is no local file crashes nothing, is kept as text only, and file tools say what it is.",
        (
            "tests/unit/editor/test_documents.py::test_what_is_no_local_file_is_kept_as_text_by_its_whole_uri",
            "tests/protocol/test_open_documents.py::test_a_document_that_is_no_local_file_crashes_nothing_and_file_tools_say_so",
        ),
    ),
    "case.B64": Requirement(
        "Two windows on one file do not disturb each other; bad order is logged and a fresh text awaited.",
        (
            "tests/unit/editor/test_documents.py",
            "tests/protocol/test_two_windows.py",
            f"{_ODD}::test_documents_out_of_order_are_known_again_with_their_next_whole_text",
        ),
    ),
    "case.B65": Requirement(
        "The bridge ends with its editor, with the right exit code, and the daemon lives on.",
        (
            "tests/protocol/test_bridge.py::test_it_ends_in_a_second_when_its_editor_is_killed_though_a_sibling_holds_the_pipe",
            "tests/protocol/test_bridge.py::test_exit_ends_the_bridge_and_its_code_tells_of_shutdown",
            "tests/protocol/test_bridge_extremes.py",
            "tests/crash/test_kill_client.py",
        ),
    ),
    "case.B67": Requirement(
        "Every legal form of a frame is taken, however its bytes come; a lost border ends the link with a reason.",
        (
            "tests/unit/editor/test_framing.py",
            "tests/protocol/test_bridge.py",
            "tests/protocol/test_bridge_deaths.py",
            f"{_ODD}::test_lost_borders_end_this_link_with_a_reason_and_nobody_elses",
        ),
    ),
    "case.B68": Requirement(
        "Each request gets exactly one reply; late and double replies are ignored.",
        (
            "tests/unit/editor/test_book.py",
            "tests/protocol/test_connection_rules.py",
            f"{_ODD}::test_of_70_requests_60_are_cancelled_and_each_has_one_reply_and_late_ones_harm_nobody",
        ),
    ),
    "case.pygls": Requirement(
        "What the LSP library does by itself against the specification is overridden.",
        ("tests/protocol/test_connection_rules.py",),
    ),
}
