"""The tools that the model is offered, each with the adapters it works with.

Owns the list. Does not own whether a call may run (core.policy) nor when it does (runtime.batch).
"""

import os
from dataclasses import asdict

from agent_ls.adapters.host.hooks import CommandHooks
from agent_ls.adapters.host.processes import LocalProcesses
from agent_ls.adapters.tools.apply_patch import ApplyPatchTool
from agent_ls.adapters.tools.ask import AskTool
from agent_ls.adapters.tools.edit import EditTool
from agent_ls.adapters.tools.fetch import FetchTool
from agent_ls.adapters.tools.fetch_http import Fetcher
from agent_ls.adapters.tools.glob import GlobTool
from agent_ls.adapters.tools.grep import GrepTool
from agent_ls.adapters.tools.plan import PlanTool
from agent_ls.adapters.tools.read import ReadTool
from agent_ls.adapters.tools.search import Searcher
from agent_ls.adapters.tools.shell import ShellTool
from agent_ls.adapters.tools.shell_background import BackgroundShells
from agent_ls.adapters.tools.shell_output import ShellOutputTool
from agent_ls.adapters.tools.shell_sandbox import find
from agent_ls.adapters.tools.shell_stop import ShellStopTool
from agent_ls.adapters.tools.task import TaskTool
from agent_ls.adapters.tools.todo import TodoTool
from agent_ls.adapters.tools.write import WriteTool
from agent_ls.config.settings import Settings
from agent_ls.ports.files import Files
from agent_ls.ports.host import Clock
from agent_ls.ports.tools import Toolbox, ToolSource


class Workshop:
    """The tools, what they share (processes, the shells in the background, the way to the web), and the hooks.

    `hidden`: folders of the daemon that no command in a sandbox sees.
    """

    def __init__(self, settings: Settings, clock: Clock, *, hidden: tuple[str, ...] = ()) -> None:
        self.processes = LocalProcesses(clock)
        self.shells = BackgroundShells(self.processes)
        self.hooks = CommandHooks({}, "")
        self._fetcher = Fetcher()
        self._shell = ShellTool(self.processes, self.shells)
        self._hidden = hidden
        self.use(settings)

    def use(self, settings: Settings) -> None:
        """The settings as they are now."""
        self._fetcher.private = settings.fetch.private
        wanted = settings.sandbox
        self._shell.sandbox = (
            find(network=wanted.network, writable=wanted.writable, hidden=self._hidden) if wanted.enabled else None
        )
        self.hooks.use(asdict(settings.hooks), os.path.dirname(settings.path))

    def toolbox(self, files: Files, *sources: ToolSource) -> Toolbox:
        """`sources` have the tools that only some workspaces have."""
        searcher = Searcher(self.processes)
        tools = (
            ReadTool(files),
            GlobTool(files, searcher),
            GrepTool(files, searcher),
            WriteTool(files),
            EditTool(files),
            ApplyPatchTool(files),
            self._shell,
            ShellOutputTool(self.shells),
            ShellStopTool(self.shells),
            FetchTool(self._fetcher),
            TodoTool(),
            AskTool(),
            PlanTool(),
            TaskTool(),
        )
        return Toolbox({tool.name: tool for tool in tools}, sources)
