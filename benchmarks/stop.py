"""What a stop costs: until it is acknowledged, until the run is over, and until a command that ignores TERM is gone."""

from time import monotonic

from benchmarks.rig import PATIENCE_S, Rig, Window, command_id, ms
from benchmarks.table import Row


def measure(rig: Rig) -> list[Row]:
    window = rig.window()
    window.open()
    stream = [_stopped(window, f"hang stop{n}") for n in rig.times(9)]
    tool = [_stopped(window, f"stubborn {n}") for n in rig.times(3)]
    window.client.close()
    return [
        Row(name="stop in mid answer, acknowledged", unit="ms", ours=ms([ack for ack, _ in stream]), at_most=50),
        Row(name="stop in mid answer, over", unit="ms", ours=ms([over for _, over in stream])),
        Row(name="stop of a command that ignores TERM, acknowledged", unit="ms", ours=ms([ack for ack, _ in tool]),
            at_most=50),
        Row(name="stop of a command that ignores TERM, over", unit="ms", ours=ms([over for _, over in tool]),
            at_most=2500),
    ]  # fmt: skip


def _stopped(window: Window, text: str) -> tuple[float, float]:
    """Seconds until the stop was acknowledged, and until the run was over."""
    run = window.send(text)
    begin = acknowledged = 0.0
    for method, params in window.client.events(PATIENCE_S):
        if method == "agent/stream" and not begin:
            begin = monotonic()
            window.call("agent/run/interrupt", commandId=command_id(), runId=run)
            acknowledged = monotonic()
        for event in params["events"] if method == "agent/event" else ():
            entity = event["entity"]
            if event["kind"] == "request" and entity["status"] == "pending":
                said = {"requestId": entity["id"], "digest": entity["digest"], "decision": "allow"}
                window.call("agent/request/respond", commandId=command_id(), **said)
            if event["kind"] == "run" and entity["id"] == run and entity["status"] == "interrupted":
                return acknowledged - begin, monotonic() - begin
    raise TimeoutError("the run did not end")
