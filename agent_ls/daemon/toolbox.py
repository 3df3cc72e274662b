"""The tools that the model is offered, each with the adapters it works with.

Owns the list. Does not own whether a call may run (core.policy) nor when it does (runtime.batch).
"""

from agent_ls.adapters.host.processes import LocalProcesses
from agent_ls.adapters.tools.ask import AskTool
from agent_ls.adapters.tools.edit import EditTool
from agent_ls.adapters.tools.glob import GlobTool
from agent_ls.adapters.tools.grep import GrepTool
from agent_ls.adapters.tools.plan import PlanTool
from agent_ls.adapters.tools.read import ReadTool
from agent_ls.adapters.tools.search import Searcher
from agent_ls.adapters.tools.shell import ShellTool
from agent_ls.adapters.tools.shell_background import BackgroundShells
from agent_ls.adapters.tools.shell_output import ShellOutputTool
from agent_ls.adapters.tools.shell_stop import ShellStopTool
from agent_ls.adapters.tools.todo import TodoTool
from agent_ls.adapters.tools.write import WriteTool
from agent_ls.ports.files import Files
from agent_ls.ports.tools import Toolbox


def toolbox(files: Files, processes: LocalProcesses, shells: BackgroundShells) -> Toolbox:
    searcher = Searcher(processes)
    tools = (
        ReadTool(files),
        GlobTool(files, searcher),
        GrepTool(files, searcher),
        WriteTool(files),
        EditTool(files),
        ShellTool(processes, shells),
        ShellOutputTool(shells),
        ShellStopTool(shells),
        TodoTool(),
        AskTool(),
        PlanTool(),
    )
    return Toolbox({tool.name: tool for tool in tools})
