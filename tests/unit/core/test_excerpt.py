"""What a model reads of a file in one call, and what it is told of the rest."""

from agent_ls.core.excerpt import Excerpt, excerpt
from agent_ls.core.images import Pretender, sniff


def test_a_small_file_is_given_whole_and_without_a_word() -> None:
    assert excerpt("a\nb", offset=1, limit=None) == Excerpt("a\nb", 2)


def test_a_piece_says_how_to_go_on() -> None:
    text = "".join(f"{n}\n" for n in range(1, 6))
    assert excerpt(text, offset=2, limit=2) == Excerpt("2\n3\n", 5, ("lines 2 to 3 of 5; go on with offset 4",))
    assert excerpt(text, offset=4, limit=9) == Excerpt("4\n5\n", 5, ("lines 4 to 5 of 5, the end of the file",))


def test_two_thousand_lines_a_call() -> None:
    part = excerpt("x\n" * 5_000, offset=1, limit=None)
    assert (part.text.count("\n"), part.notes) == (2_000, ("lines 1 to 2000 of 5000; go on with offset 2001",))


def test_a_quarter_of_a_mebibyte_a_call() -> None:
    part = excerpt(("y" * 1_023 + "\n") * 300, offset=1, limit=None)
    assert (len(part.text), part.notes) == (256 * 1_024, ("lines 1 to 256 of 300; go on with offset 257",))


def test_a_long_line_is_cut_and_named() -> None:
    part = excerpt("a\n" + "z" * 2_500 + "\nb\n", offset=1, limit=None)
    assert part.text == "a\n" + "z" * 2_000 + "… [500 more characters]\nb\n"
    assert part.notes == ("cut after 2000 characters: line 2",)


def test_an_empty_file_is_said_to_be_empty() -> None:
    assert excerpt("", offset=1, limit=None) == Excerpt("", 0, ("the file is empty",))


def test_an_offset_behind_the_end_is_told() -> None:
    assert excerpt("a\n", offset=2, limit=None) == Excerpt("", 1, beyond=True)


def test_an_image_is_known_by_its_bytes() -> None:
    assert sniff(b"\x89PNG\r\n\x1a\n....", "x.txt") == "image/png"
    assert sniff(b"RIFF....WEBPVP8 ", "x") == "image/webp"
    assert sniff(b"text", "x.svg") is None


def test_html_under_the_name_of_an_image_is_no_image() -> None:
    assert sniff(b"<!DOCTYPE html>", "logo.PNG") == Pretender(
        "is named like a PNG image but holds HTML or XML; it was not shown"
    )
