"""Which providers there are, configured and found, and which of them could answer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from agent_ls.config.load import load
from agent_ls.config.origin import Default, Environment, Found, UserFile
from agent_ls.config.providers import DEMO, Provider
from agent_ls.config.secret import CommandKey, EnvironmentKey
from agent_ls.core.errors import Code, Refusal
from tests.unit.config.home import Home


@pytest.mark.parametrize(
    ("keys", "provider"),
    [
        (["OPENAI_API_KEY"], "openai"),
        (["GEMINI_API_KEY", "OPENROUTER_API_KEY"], "openrouter"),
        (["ANTHROPIC_API_KEY", "GEMINI_API_KEY"], "anthropic"),
        (["LETTA_API_KEY", "GEMINI_API_KEY"], "gemini"),
    ],
)
def test_the_first_key_that_can_be_used_decides(home: Home, keys: list[str], provider: str) -> None:
    settings = home.settings("", **dict.fromkeys(keys, "k"))
    assert settings.provider == provider
    assert settings.origin("provider") == Found(f"the first provider that is ready, {provider}")


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": " "}, {"LETTA_API_KEY": "k"}])
def test_without_a_key_that_can_be_used_there_is_no_provider(home: Home, environ: dict[str, str]) -> None:
    settings = home.settings("", **environ)
    assert (settings.provider, settings.origin("provider")) == (None, Default())


def test_providers_are_listed_in_their_order_with_what_is_not_built(home: Home) -> None:
    keys = ("LETTA_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    settings = home.settings('[providers.own]\nkind = "demo"', **dict.fromkeys(keys, "k"))
    assert [(each.name, each.problem is None) for each in settings.providers.values()] == [
        ("own", True),
        ("anthropic", True),
        ("openai", True),
        ("openrouter", True),
        ("gemini", True),
        ("letta", False),
        ("demo", True),
    ]
    assert settings.provider == "anthropic"


def test_a_moved_service_is_asked_where_it_is(home: Home) -> None:
    moved = home.settings("", OPENAI_API_KEY="k", OPENAI_BASE_URL="https://proxy.example/v1/")
    assert moved.providers["openai"].base_url == "https://proxy.example/v1"
    broken = home.settings("", OPENAI_API_KEY="k", OPENAI_BASE_URL="proxy")
    assert (broken.provider, broken.providers["openai"].problem is None) == (None, False)


def test_a_program_on_the_path_is_listed(home: Home, tmp_path: Path) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    codex = home.settings("", PATH=str(tmp_path)).providers["codex"]
    assert (codex.origin, codex.command) == (Found("`codex` on the PATH"), ("codex", "app-server"))


def test_local_servers_are_looked_for_only_when_nothing_else_is_ready(home: Home) -> None:
    home.file.write_text("")
    asked: list[Sequence[str]] = []

    def probe(urls: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        asked.append(urls)
        return {"http://127.0.0.1:1234/v1": ("text-embedding-x", "qwen"), "http://127.0.0.1:8080/v1": ()}

    settings = load(home.environ, probe=probe)
    assert settings.usable() == Provider(
        name="lmstudio",
        kind="openai-compatible",
        base_url="http://127.0.0.1:1234/v1",
        model="qwen",
        origin=Found("a server at http://127.0.0.1:1234/v1"),
    )
    assert list(settings.providers) == ["lmstudio", "llamacpp", "demo"]
    assert load({**home.environ, "OPENAI_API_KEY": "k"}, probe=probe).provider == "openai"
    assert len(asked) == 1
    assert "lmstudio" in load({**home.environ, "OPENAI_API_KEY": "k"}, probe=probe, probe_always=True).providers


def test_the_environment_names_the_model_of_new_conversations(home: Home) -> None:
    text = '[providers.openai]\nmodel = "file-model"\n'
    settings = home.settings(text, OPENAI_API_KEY="k", AGENT_LS_MODEL="mine")
    assert settings.providers["openai"].model == "mine"
    assert settings.origin("providers.openai.model") == Environment("AGENT_LS_MODEL")
    assert home.settings(text, OPENAI_API_KEY="k").providers["openai"].model == "file-model"


def test_a_provider_that_is_not_there_falls_back_and_says_so(home: Home) -> None:
    settings = home.settings('provider = "nope"', OPENAI_API_KEY="k")
    assert settings.provider == "openai"
    assert settings.warnings == (f"{home.file}: there is no provider `nope`; `openai` is used for new conversations.",)


LOOPBACK = 'kind = "openai-compatible"\nbase_url = "http://127.0.0.1:1/v1"'
MISSING = "its key is missing: set {} where the daemon starts, then run `agent-ls restart`."


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        (
            'base_url = "http://127.0.0.1:1/v1"\nmodel = "m"',
            "it needs a `kind`, one of anthropic, openai, openai-compatible, letta, codex, acp, demo.",
        ),
        (
            'kind = "openai-compatible"\nmodel = "m"',
            'it needs a `base_url`, such as "http://127.0.0.1:9000/v1".',
        ),
        ('kind = "anthropic"\nbase_url = "http://127.0.0.1:1"', "it needs a `model`."),
        (LOOPBACK, "it needs a `model`."),
        ('kind = "openai"', MISSING.format("OPENAI_API_KEY")),
        (f'{LOOPBACK}\nmodel = "m"\napi_key_env = "GONE"', MISSING.format("GONE")),
        (
            'kind = "openai"\nkeyring = "x"',
            "Keys in the keyring cannot be read yet; use `api_key_env` or `api_key_command`.",
        ),
        (
            'kind = "acp"\ncommand = ["claude"]',
            "kind `acp` is not built yet; this version talks to anthropic, openai, openai-compatible and demo.",
        ),
    ],
)
def test_a_provider_that_cannot_answer_says_what_it_needs(home: Home, section: str, problem: str) -> None:
    settings = home.settings(f'provider = "x"\n[providers.x]\n{section}')
    assert settings.usable() == Refusal(Code.PROVIDER_UNAVAILABLE, f"Provider `x` cannot be used: {problem}")


@pytest.mark.parametrize(
    "line",
    [
        'base_url = "ftp://host"',
        'base_url = "http://u:pw@host/v1"',
        'base_url = "http://host:99999"',
        'base_url = "http://"',
        'api_key_env = "sk-topsecret-123456"',
        "api_key_command = []",
        'headers = { "X" = "a\\nb" }',
        "env = { A = 1 }",
    ],
)
def test_a_provider_with_a_wrong_address_or_key_is_not_used_at_all(home: Home, line: str) -> None:
    settings = home.settings(f'provider = "openai"\n[providers.openai]\n{line}', OPENAI_API_KEY="k")
    refusal = settings.usable()
    assert isinstance(refusal, Refusal)
    assert f"`providers.openai.{line.split(maxsplit=1)[0]}` in {home.file} should be " in refusal.message
    assert not any("topsecret" in text or "pw" in text for text in (*settings.warnings, refusal.message))


def test_a_known_name_needs_only_what_differs(home: Home) -> None:
    settings = home.settings('[providers.openrouter]\nmodel = "m"', OPENROUTER_API_KEY="k")
    assert settings.usable() == Provider(
        name="openrouter",
        kind="openai-compatible",
        base_url="https://openrouter.ai/api/v1",
        key=EnvironmentKey("OPENROUTER_API_KEY"),
        model="m",
        origin=UserFile(str(home.file), "providers.openrouter"),
    )


def test_a_key_is_never_sent_to_an_address_it_was_not_named_for(home: Home) -> None:
    text = '[providers.openai]\nbase_url = "https://other.example/v1"\nmodel = "m"'
    assert home.settings(text, OPENAI_API_KEY="k").providers["openai"].key is None


def test_a_key_over_plain_http_to_another_host_is_warned_of(home: Home) -> None:
    text = '[providers.x]\nkind = "openai-compatible"\nmodel = "m"\napi_key_command = "pass show x"\nbase_url = '
    far = home.settings(text + '"http://far.example/v1"')
    assert far.providers["x"].key == CommandKey(("/bin/sh", "-c", "pass show x"))
    assert [warning[:36] for warning in far.warnings] == ["Provider `x`: its key travels unencr"]
    assert home.settings(text + '"http://127.0.0.1:1/v1"').warnings == ()


def test_a_local_model_gets_time_to_load_unless_the_person_set_a_limit(home: Home) -> None:
    text = '[providers.x]\nkind = "openai-compatible"\nmodel = "m"\nbase_url = "http://localhost:1/v1"\n'
    unset, limited = home.settings(text), home.settings(f"{text}[http]\nfirst_byte_timeout_s = 5")
    assert unset.first_byte_timeout_s(unset.providers["x"]) == 600.0
    assert limited.first_byte_timeout_s(limited.providers["x"]) == 5.0
    assert unset.first_byte_timeout_s(DEMO) == 60.0


def test_with_nothing_ready_the_way_on_is_said(home: Home) -> None:
    refusal = home.settings("", LETTA_API_KEY="k").usable()
    assert isinstance(refusal, Refusal)
    assert refusal.message == (
        "No model provider is ready (letta: kind `letta` is not built yet; "
        "this version talks to anthropic, openai, openai-compatible and demo.)."
    )
    assert "OPENAI_API_KEY" in refusal.hint
    assert "agent-ls demo" in refusal.hint
