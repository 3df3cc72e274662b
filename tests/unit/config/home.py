"""A person's configuration file and the environment of their daemon."""

from pathlib import Path

from agent_ls.config.load import load
from agent_ls.config.settings import Settings


class Home:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "config.toml"
        self.environ = {"HOME": str(folder), "PATH": "", "AGENT_LS_CONFIG": str(self.file)}

    def settings(self, text: str | bytes = "", **environ: str) -> Settings:
        self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load({**self.environ, **environ})
