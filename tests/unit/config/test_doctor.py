"""What doctor finds and says."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent_ls.config.doctor import Facts, Level, Line, Report, report
from agent_ls.config.load import load
from agent_ls.config.running import Running, fingerprint
from agent_ls.config.settings import Settings
from agent_ls.core.errors import Code, Refusal

FACTS = Facts(version="1.2.3", python="3.11.9", sqlite="3.45.0")


class Home:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "config.toml"
        self.environ = {
            "HOME": str(folder),
            "PATH": "",
            "AGENT_LS_CONFIG": str(self.file),
            "AGENT_LS_STATE_DIR": str(folder / "state"),
        }

    def report(self, text: str = "", facts: Facts = FACTS, **environ: str) -> Report:
        self.file.write_text(text)
        everything = {**self.environ, **environ}
        return report(load(everything), facts, everything)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def lines(shown: Report, part: str) -> list[Line]:
    return [line for line in shown.lines if line.part == part]


def test_nothing_found_says_what_to_do_next(home: Home) -> None:
    shown = home.report()
    assert not shown.healthy
    assert shown.next_step is not None
    for way in ("OPENAI_API_KEY", "Ollama", "agent-ls demo"):
        assert way in shown.next_step
    assert shown.text().endswith(f"next\n  {shown.next_step}")


def test_a_provider_is_named_with_its_key_and_never_the_key_itself(home: Home) -> None:
    shown = home.report(OPENAI_API_KEY="topsecret")
    assert lines(shown, "providers") == [
        Line(
            "providers", "openai",
            "openai, https://api.openai.com/v1, model gpt-5, key OPENAI_API_KEY is set, "
            "from environment OPENAI_API_KEY",
            Level.OK,
        ),
        Line("providers", "demo", "offline, scripted, no key; used only where it is named", Level.OK),
        Line("providers", "not running", "ollama, lmstudio, llamacpp (looked for on loopback)"),
    ]  # fmt: skip
    assert lines(shown, "new conversations") == [
        Line(
            "new conversations", "provider",
            "openai (found: the first provider that is ready, openai), model gpt-5 (environment OPENAI_API_KEY)",
            Level.OK,
        )
    ]  # fmt: skip
    assert (shown.healthy, shown.next_step, "topsecret" in shown.text()) == (True, None, False)


def test_servers_of_tools_are_named_and_whether_they_can_be_spoken_to(home: Home) -> None:
    text = '[mcp.notes]\ncommand = ["notes", "--stdio"]'
    assert lines(home.report(text), "mcp") == [Line("mcp", "notes", "notes --stdio", Level.OK)]
    (line,) = lines(home.report(text, replace(FACTS, mcp_missing=True)), "mcp")
    assert line.level is Level.WARNING
    assert "make install EXTRAS=mcp" in line.text


def test_a_missing_key_is_named(home: Home) -> None:
    shown = home.report('provider = "x"\n[providers.x]\nkind = "openai"\napi_key_env = "GONE"')
    assert "key GONE is not set" in shown.text()
    assert not shown.healthy


def test_each_setting_has_its_origin(home: Home) -> None:
    values = {line.name: line.text for line in lines(home.report("[http]\nidle_timeout_s = 7"), "settings")}
    assert values["http.idle_timeout_s"] == "7 (config.toml)"
    assert values["http.connect_timeout_s"] == "10 (default)"
    assert values["permissions.deny"] == "none (default)"
    assert values["mode"] == "ask (default)"


def test_warnings_and_a_broken_file_are_shown(home: Home) -> None:
    assert [line.level for line in lines(home.report("x = 1"), "configuration")] == [Level.WARNING]
    broken = home.report("x =")
    assert [line.level for line in lines(broken, "configuration")] == [Level.PROBLEM]
    assert broken.next_step == "Correct the file, then run `agent-ls restart`."


def test_refused_settings_are_shown_once(home: Home) -> None:
    settings = Settings(path=str(home.file), problem="no")
    facts = Facts(version="1", python="3", sqlite="3", refused="no")
    shown = report(settings, facts, home.environ)
    assert lines(shown, "configuration") == [Line("configuration", "refused", "no", Level.PROBLEM)]


def test_a_state_directory_on_a_network_is_warned_of(home: Home) -> None:
    facts = Facts(version="1", python="3", sqlite="3", network="nfs4")
    assert "is on a network file system (nfs4)" in home.report(facts=facts).text()
    assert "network file system" not in home.report().text()


def test_a_state_directory_below_a_file_cannot_be_written(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = home.report(AGENT_LS_STATE_DIR=str(tmp_path / "file" / "state"))
    assert "cannot be written" in shown.text()


def test_the_report_as_data_holds_every_line(home: Home) -> None:
    shown = home.report(OPENAI_API_KEY="k")
    data = shown.as_data()
    assert (data["healthy"], data["nextStep"], len(data["lines"])) == (True, None, len(shown.lines))
    assert data["lines"][0] == {"part": "agent-ls", "name": "version", "text": "1.2.3", "level": "info"}


def test_the_server_of_the_ledger_is_shown_without_who_logs_in_there(home: Home) -> None:
    said = "PostgreSQL 18.4 on db.example/agent, schema 1"
    shown = home.report(
        '[ledger]\nurl = "postgresql://me:p/w@d@db.example/agent?sslmode=require"', replace(FACTS, ledger=said)
    )
    assert Line("places", "ledger", said, Level.OK) in shown.lines
    values = {line.name: line.text for line in lines(shown, "settings")}
    assert values["ledger.url"] == "postgresql://db.example/agent (config.toml)"


def test_a_ledger_that_cannot_be_reached_is_a_problem_with_its_way_out(home: Home) -> None:
    shown = home.report("", replace(FACTS, ledger=Refusal(Code.LEDGER_UNAVAILABLE, "It is away.", "Start it.")))
    assert Line("places", "ledger", "It is away. Start it.", Level.PROBLEM) in shown.lines


def _running(model: str | None, print: str = "") -> Running:
    return Running(pid=7, version="1.2.3", since="3 min ago", model=model, providers=("demo",), print=print)


OPENAI = "openai, model gpt-5"
KEY = {"OPENAI_API_KEY": "k"}


@pytest.mark.parametrize(
    ("has", "found", "said", "step"),
    [
        (
            None, KEY,
            f"was started before this: it has no model, not {OPENAI}; `agent-ls restart` takes it over",
            "Run `agent-ls restart`: what runs goes on in the new daemon.",
        ),
        (
            "x, model y", KEY,
            f"was started before this: it has x, model y, not {OPENAI}; `agent-ls restart` takes it over",
            "Run `agent-ls restart`: what runs goes on in the new daemon.",
        ),
        (
            OPENAI, {},
            f"has {OPENAI}, which was not found from here: it was started with another environment. "
            "It goes on with that as long as it is not restarted from here",
            None,
        ),
        (OPENAI, KEY, None, None),
    ],
)  # fmt: skip
def test_a_daemon_that_was_started_before_what_is_found_now_is_said_so(
    home: Home, has: str | None, found: dict[str, str], said: str | None, step: str | None
) -> None:
    home.file.write_text("")
    fresh = load({**home.environ, **found})
    shown = home.report(facts=replace(FACTS, running=_running(has), fresh=fresh), **found)
    assert lines(shown, "daemon") == [
        Line("daemon", "running", "pid 7, version 1.2.3, started 3 min ago", Level.OK),
        Line("daemon", "providers", "demo"),
        Line("daemon", "new conversations", has or "no model is ready"),
        *([Line("daemon", "differs", f"the daemon (pid 7, started 3 min ago) {said}", Level.WARNING)] if said else []),
    ]
    assert (shown.healthy, shown.next_step, shown.model) == (True, step, has)


def test_other_settings_of_the_same_model_are_said_too(home: Home) -> None:
    before = load({**home.environ, **KEY})
    home.file.write_text('[http]\nidle_timeout_s = 7\n[providers.openai]\nheaders = {x = "secret"}')
    fresh = load({**home.environ, **KEY})
    running = _running(OPENAI, fingerprint(before))
    shown = report(fresh, replace(FACTS, running=running, fresh=fresh), {**home.environ, **KEY})
    assert lines(shown, "daemon")[-1].text.endswith("was started before this and holds other settings; "
                                                    "`agent-ls restart` takes it over")  # fmt: skip
    running = replace(running, print=fingerprint(fresh))
    assert (
        lines(report(fresh, replace(FACTS, running=running, fresh=fresh), home.environ), "daemon")[-1].level
        is Level.INFO
    )


def test_a_daemon_that_does_not_answer_is_told_of(home: Home) -> None:
    assert lines(home.report(facts=replace(FACTS, running="It is stuck.")), "daemon") == [
        Line("daemon", "running", "It is stuck.", Level.WARNING)
    ]
    assert lines(home.report(), "daemon") == [Line("daemon", "running", "no; the first client starts one")]


def test_the_path_of_the_file_stands_there_once(home: Home) -> None:
    shown = home.report('provider = "nope"\n[http]\nidle_timeout_s = 7', OPENAI_API_KEY="k")
    assert shown.text().count(str(home.file)) == 2  # under places, and as the variable that names it
