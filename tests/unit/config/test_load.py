"""From a file and an environment to settings."""

from pathlib import Path

import pytest

from agent_ls.config.load import load
from agent_ls.config.origin import Default, UserFile
from agent_ls.config.providers import DEMO, Provider
from agent_ls.config.secret import EnvironmentKey
from agent_ls.config.settings import (
    CORRECT_THE_FILE,
    Compaction,
    ConfigError,
    Daemon,
    Fetch,
    Hooks,
    Http,
    Ledger,
    Limits,
    Permissions,
    Sandbox,
    Settings,
)
from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.rules import Rule, Ruling, Scope
from tests.unit.config.home import Home

SAMPLE = """
provider = "scripted"
mode = "ask"

[providers.scripted]
kind = "openai-compatible"
base_url = "http://127.0.0.1:9000/v1"
api_key_env = "SCRIPTED_KEY"
model = "scripted-1"
context_window = 200000
headers = { "X-Team" = "a" }

[permissions]
allow = ["shell(git status)"]
ask = []
deny = ["read(~/.ssh/**)"]

[ledger]
url = "sqlite"
claim_ttl_s = 31

[http]
connect_timeout_s = 11
first_byte_timeout_s = 61
idle_timeout_s = 91

[compaction]
enabled = false
threshold = 0.8
keep_recent_tokens = 10000
mode = "all"
model = "small"

[limits]
steps_per_run = 20
minutes_per_run = 12

[daemon]
idle_exit_s = 86
backing_idle_s = 18
"""


def test_every_section_of_the_sample_is_read_with_its_origin(home: Home) -> None:
    settings = home.settings(SAMPLE, SCRIPTED_KEY="k")
    path = str(home.file)
    scripted = Provider(
        name="scripted",
        kind="openai-compatible",
        base_url="http://127.0.0.1:9000/v1",
        key=EnvironmentKey("SCRIPTED_KEY"),
        model="scripted-1",
        context_window=200_000,
        headers={"X-Team": "a"},
        origin=UserFile(path, "providers.scripted"),
    )
    assert settings.origin("http.idle_timeout_s") == UserFile(path, "http.idle_timeout_s")
    assert settings == Settings(
        path=path,
        provider="scripted",
        mode=Mode.ASK,
        providers={"scripted": scripted, "demo": DEMO},
        permissions=Permissions(allow=("shell(git status)",), ask=(), deny=("read(~/.ssh/**)",)),
        ledger=Ledger(url="sqlite", claim_ttl_s=31.0),
        http=Http(connect_timeout_s=11.0, first_byte_timeout_s=61.0, idle_timeout_s=91.0),
        compaction=Compaction(enabled=False, threshold=0.8, keep_recent_tokens=10_000, mode="all", model="small"),
        limits=Limits(steps_per_run=20, minutes_per_run=12.0),
        daemon=Daemon(idle_exit_s=86.0, backing_idle_s=18.0),
        fetch=Fetch(),
        sandbox=Sandbox(),
        hooks=Hooks(),
        origins=settings.origins,
    )
    assert settings.usable() == scripted


def test_without_a_file_everything_is_default_and_nothing_is_warned_of(tmp_path: Path) -> None:
    settings = load({"HOME": str(tmp_path), "PATH": ""})
    assert settings == Settings(path=str(tmp_path / ".config/agent-ls/config.toml"), providers={"demo": DEMO})
    assert settings.origin("http.idle_timeout_s") == Default()


def test_a_named_file_that_is_not_there_is_said(home: Home) -> None:
    settings = load(home.environ)
    assert settings.problem is None
    assert settings.warnings == (f"AGENT_LS_CONFIG names {home.file}, which is not there; defaults are used.",)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("[http]\nidle_timeout = 3", "unknown key `http.idle_timeout`. Did you mean `http.idle_timeout_s`?"),
        ('modle = "x"', "unknown key `modle`. Did you mean `mode`?"),
        ("steps_per_run = 3", "unknown key `steps_per_run`. Did you mean `limits.steps_per_run`?"),
        ("[ledgr]\nx = 1", "unknown key `ledgr`. Did you mean `ledger`?"),
        ("[ledger]\nzzzz = 1", "unknown key `ledger.zzzz`. Known here: url, claim_ttl_s, host, keep_days."),
        (
            '[providers.x]\nkind = "demo"\nbas_url = "y"',
            "unknown key `providers.x.bas_url`. Did you mean `providers.x.base_url`?",
        ),
        (
            '[providers.x]\nkind = "demo"\napi_key = "sk-topsecret-1"',
            "`providers.x.api_key` is not read, as keys do not belong in this file. "
            "Put the key into an environment variable and name that in `api_key_env`.",
        ),
        (
            '[permissions]\ndeny = ["shel(rm *)"]',
            "`permissions.deny`: there is no tool `shel`, so this rule never fits. Did you mean `shell`?",
        ),
    ],
)
def test_an_unknown_or_unbuilt_key_is_said_and_the_rest_goes_on(home: Home, text: str, warning: str) -> None:
    settings = home.settings(text)
    assert settings.warnings == (f"{home.file}: {warning}",)
    assert settings.problem is None
    assert (settings.mode, settings.http, settings.limits) == (Mode.ASK, Http(), Limits())
    assert settings.ledger == Ledger()


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("http = 3", "http", "a table"),
        ("providers = 3", "providers", "tables such as [providers.local]"),
        ('mode = "yolo"', "mode", '"ask", "edits", "plan" or "auto"'),
        ("[http]\nconnect_timeout_s = 0", "http.connect_timeout_s", "a number of seconds above 0"),
        ("[http]\nconnect_timeout_s = nan", "http.connect_timeout_s", "a number of seconds above 0"),
        ("[http]\nconnect_timeout_s = true", "http.connect_timeout_s", "a number of seconds above 0"),
        ('[http]\nconnect_timeout_s = "9"', "http.connect_timeout_s", "a number of seconds above 0"),
        ("[limits]\nsteps_per_run = 1.5", "limits.steps_per_run", "a whole number from 1"),
        ("[limits]\nsteps_per_run = -1", "limits.steps_per_run", "a whole number from 1"),
        ("[compaction]\nenabled = 1", "compaction.enabled", "true or false"),
        ("[compaction]\nthreshold = 80", "compaction.threshold", "a share of the window between 0 and 1"),
    ],
)
def test_a_wrong_value_leaves_the_default_and_says_so(home: Home, text: str, key: str, expected: str) -> None:
    settings = home.settings(text)
    assert settings.warnings == (f"{home.file}: `{key}` should be {expected}; the default is used instead.",)
    assert settings == Settings(path=str(home.file), providers={"demo": DEMO}, warnings=settings.warnings)


@pytest.mark.parametrize("url", ['"mysql://x"', '"postgre://h/db"', "3", '""'])
def test_a_ledger_url_that_names_nothing_refuses_to_start(home: Home, url: str) -> None:
    with pytest.raises(ConfigError, match=r"`ledger\.url` should be \"sqlite\" or an address .+ Correct it"):
        home.settings(f"[ledger]\nurl = {url}")


@pytest.mark.parametrize(
    "text",
    [
        "permissions = 3",
        '[permissions]\nallow = "shell"',
        "[permissions]\ndeny = [3]",
        '[permissions]\ndeny = [""]',
        '[permissions]\ndeny = ["shell(git status"]',
        '[permissions]\ndeny = ["shell()"]',
        '[permissions]\nask = ["git status"]',
        '[permissions]\ndeny = ["read(../secret)"]',
        '[permissions]\nallow = ["shell(a; b)"]',
    ],
)
def test_a_wrong_value_in_permissions_refuses_to_start(home: Home, text: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml: `permissions.*`.+ Correct it"):
        home.settings(text)


@pytest.mark.parametrize(
    "text", ['[permissions]\ndney = ["shell"]', '[permission]\ndeny = ["shell"]', '[Permissions]\ndeny = ["shell"]']
)
def test_a_misspelt_rule_list_lets_nothing_run(home: Home, text: str) -> None:
    settings = home.settings(text, OPENAI_API_KEY="k")
    assert len(settings.warnings) == 1
    assert "Did you mean `permissions" in settings.warnings[0]
    assert isinstance(settings.usable(), Refusal)


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"mode = \n", ", line 1, column 8: Invalid value."),
        (b"[permissions\n", ", line 1, column 13: Expected ']' at the end of a table declaration."),
        (b'[permissions]\ndeny = ["shell(rm *)"\nx', ", line 3, column 1: Unclosed array."),
        (b'mode = "ask"\nmode = "auto"\n', ", line 2, column 14: Cannot overwrite a value."),
        (b'mode = "ask"\nname = "\xff"', ", line 2: this is not UTF-8 text."),
        (b"a = " + b"[" * 5000, " is nested too deeply."),
        (b"#" * (1024 * 1024 + 1), " is larger than 1 MiB, which no configuration is."),
    ],
)
def test_a_broken_file_says_where_and_lets_nothing_run(home: Home, content: bytes, where: str) -> None:
    settings = home.settings(content, OPENAI_API_KEY="k")
    problem = f"{home.file}{where} Your rules stand in this file, so nothing is run until it can be read."
    assert settings.problem == problem
    assert settings.usable("openai") == Refusal(Code.PROVIDER_UNAVAILABLE, problem, CORRECT_THE_FILE)
    assert settings.usable("demo") == Refusal(Code.PROVIDER_UNAVAILABLE, problem, CORRECT_THE_FILE)


def test_a_file_that_cannot_be_read_lets_nothing_run(home: Home) -> None:
    home.file.mkdir()
    assert load(home.environ).problem is not None
    home.file.rmdir()
    home.file.symlink_to("gone.toml")
    assert load(home.environ).problem is not None


def test_a_key_in_a_broken_file_is_not_repeated(home: Home) -> None:
    settings = home.settings("[providers.x]\napi_key = sk-topsecret-123456\n")
    assert settings.problem is not None
    assert "topsecret" not in settings.problem


def test_rules_are_read_with_their_file(home: Home) -> None:
    settings = home.settings('[permissions]\ndeny = ["fetch"]\nallow = ["shell(git status)", "read"]')
    assert settings.rules == (
        Rule(Ruling.ALLOW, "shell(git status)", Scope.USER, str(home.file)),
        Rule(Ruling.ALLOW, "read", Scope.USER, str(home.file)),
        Rule(Ruling.DENY, "fetch", Scope.USER, str(home.file)),
    )


def test_a_byte_order_mark_is_no_trouble(home: Home) -> None:
    assert home.settings(b'\xef\xbb\xbfmode = "plan"').mode is Mode.PLAN


def test_auto_is_allowed_by_the_persons_own_file(home: Home) -> None:
    assert (home.settings('mode = "auto"').may_auto, home.settings("").may_auto) == (True, False)


def test_variables_that_hold_keys_are_known_by_name(home: Home) -> None:
    names = home.settings(SAMPLE).secret_names()
    assert {"SCRIPTED_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "LETTA_API_KEY"} <= names


def test_settings_show_no_header_and_no_key(home: Home) -> None:
    settings = home.settings(
        '[providers.x]\nkind = "openai"\nheaders = { Authorization = "topsecret" }\n'
        'command = ["x", "topsecret"]\nenv = { K = "topsecret" }',
        OPENAI_API_KEY="topsecret",
    )
    assert "topsecret" not in repr(settings)
