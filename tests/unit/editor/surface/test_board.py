"""Where requests stand: one place for a command, every window for a change, and nothing that moves while it is read."""

from dataclasses import replace
from datetime import datetime

from tests.unit.editor.surface.windows import ROOT, FakeWindow, Scene, command, edit

A, B = f"{ROOT}/a.txt", f"{ROOT}/b.txt"


def test_a_command_stands_in_the_window_that_its_message_came_from() -> None:
    scene, sender, last = Scene(), FakeWindow("helix"), FakeWindow("kate")
    scene.show(sender, last, pending=[])
    scene.open(sender, A)
    scene.open(last, B)
    scene.documents.sent("c1", sender)
    scene.show(sender, last, pending=[command(1)])
    assert (sender.shown, last.shown) == ({A: [("#1", 0)]}, {})


def test_without_that_window_it_stands_in_the_one_used_last_of_those_that_see_its_workspace() -> None:
    scene, early, last = Scene(), FakeWindow(), FakeWindow()
    other = FakeWindow(folder="file:///elsewhere")
    windows = (early, last, other)
    scene.show(*windows, pending=[])
    for window in windows:
        scene.open(window, A)
    scene.show(*windows, pending=[command(1)])
    assert [window.shown for window in windows] == [{}, {A: [("#1", 0)]}, {}]
    # It stays, whoever is used next.
    scene.board.use(early, A, 2)
    scene.show(*windows, pending=[command(1), command(2)])
    assert [window.shown for window in windows] == [{A: [("#2", 2)]}, {A: [("#1", 0)]}, {}]
    scene.board.leave(last)
    assert early.shown == {A: [("#1", 2), ("#2", 2)]}


def test_a_command_waits_for_the_first_file_that_is_opened() -> None:
    scene, window = Scene(), FakeWindow()
    scene.show(window, pending=[command(1)])
    assert window.sent == []
    scene.now += 60
    scene.open(window, A)
    assert window.shown == {A: [("#1", 0)]}
    # Now it has appeared, and not when it came.
    assert scene.board.unread(window, command(1).id)


def test_a_command_follows_the_person_when_its_file_is_closed() -> None:
    scene, window = Scene(), FakeWindow()
    scene.show(window, pending=[])
    scene.open(window, A)
    scene.open(window, B)
    scene.show(window, pending=[command(1)])
    assert window.shown == {B: [("#1", 0)]}
    scene.close(window, B)
    assert window.shown == {A: [("#1", 0)]}
    scene.close(window, A)
    assert window.shown == {}
    scene.open(window, B)
    assert window.shown == {B: [("#1", 0)]}


def test_a_window_that_says_where_its_focus_is_is_believed() -> None:
    scene, window = Scene(), FakeWindow()
    scene.show(window, pending=[])
    scene.open(window, A)
    scene.open(window, B)
    scene.board.use(window, A, 2, told=True)
    scene.board.use(window, B, 1)
    scene.show(window, pending=[command(1)])
    assert window.shown == {A: [("#1", 2)]}


def test_a_change_is_known_by_the_name_that_the_window_has_for_the_file() -> None:
    scene, window = Scene(), FakeWindow()
    scene.show(window, pending=[edit(1)])
    assert window.shown == {A: [("#1", 1)]}
    scene.open(window, "file:///link/a.txt")
    assert window.shown == {"file:///link/a.txt": [("#1", 1)]}
    assert [one.request.number for one in scene.board.at(window, "file:///link/a.txt")] == [1]


def test_a_file_that_is_opened_again_is_told_again_and_an_untouched_one_is_not() -> None:
    scene, window = Scene(), FakeWindow()
    scene.show(window, pending=[])
    scene.open(window, A)
    scene.show(window, pending=[edit(1)])
    scene.show(window, pending=[edit(1)])
    assert len(window.sent) == 1
    scene.close(window, A)
    before = len([said for said in window.sent if said["uri"] == A])
    scene.open(window, A)
    assert len([said for said in window.sent if said["uri"] == A]) == before + 1


def test_lines_follow_what_is_typed_above_them() -> None:
    scene, window = Scene(), FakeWindow()
    scene.show(window, pending=[])
    scene.open(window, A)
    scene.show(window, pending=[edit(1)])
    start = {"line": 0, "character": 0}
    scene.board.typed(window, A, [{"range": {"start": start, "end": start}, "text": "a\nb\n"}])
    assert [one.place.line for one in scene.board.at(window, A)] == [3]


def test_a_card_cannot_have_been_read_for_four_tenths_of_a_second_after_it_came_or_changed() -> None:
    scene, window, other = Scene(), FakeWindow(), FakeWindow()
    request = edit(1)
    scene.show(window, pending=[request])
    unread = []
    for seconds in (0, 0.39, 0.02):
        scene.now += seconds
        unread.append(scene.board.unread(window, request.id))
    scene.show(window, pending=[request])
    unread.append(scene.board.unread(window, request.id))
    scene.show(window, pending=[replace(request, digest="changed")])
    unread.append(scene.board.unread(window, request.id))
    scene.now += 0.41
    unread.append(scene.board.unread(window, request.id))
    # It is new in a window that comes late, and nothing there where it is not shown.
    scene.show(other, pending=[request])
    unread += [scene.board.unread(other, request.id), scene.board.unread(window, "c9.r1.q1")]
    scene.show(window, pending=[])
    unread.append(scene.board.unread(window, request.id))
    assert unread == [True, True, False, False, True, False, True, False, False]


def test_who_draws_cards_is_sent_no_diagnostics() -> None:
    scene, plugin, silent = Scene(), FakeWindow(features=("ui.approval",)), FakeWindow()
    silent.capabilities = {}
    scene.show(plugin, silent, pending=[edit(1)])
    assert (plugin.sent, silent.sent) == ([], [])
    assert len(scene.board.at(plugin, A)) == 1


def test_an_answer_that_an_earlier_daemon_got_is_judged_by_the_moment_at_which_it_was_given() -> None:
    scene, window = Scene(), FakeWindow()
    request = replace(command(1), created_at="2026-01-31T12:00:00.000Z")
    asked_at = datetime.fromisoformat(request.created_at).timestamp()
    scene.open(window, A)
    scene.show(window, pending=[request])
    assert scene.board.unread(window, request.id)
    assert scene.board.unread(window, request.id, given_at=asked_at + 0.3)
    assert not scene.board.unread(window, request.id, given_at=asked_at + 0.5)
