"""The version of agent-ls: the one place that states it.

Read by the build and by whoever reports it. Importing it is cheap: it does not look into
installed metadata.
"""

__version__ = "0.1.0"
