"""Whether queues are whole: what arriving packets found in ports against what the recording has there."""

import numpy as np

from priolane.replay.recording import Column, Recording

_NEVER = np.iinfo(np.int64).max


def missing_packets(recording: Recording) -> Column:
    """By hop: how many packets it found in its port that the recording does not have there; at least 0.

    They were sent before the recording begins. Packets that arrive at a port at one instant may have come in any
    order: what they may have found of each other counts as there.
    """
    hops = recording.hops
    leaves = np.where(hops["start_ps"] >= 0, hops["start_ps"], hops["removed_ps"])
    leaves = np.where(leaves < 0, _NEVER, leaves)
    missing = np.zeros(len(leaves), dtype=np.int64)
    for link in np.unique(hops["link"]):
        at = np.flatnonzero(hops["link"] == link)
        queued = hops["queued_ps"][at]
        came = np.searchsorted(np.sort(queued), queued, side="right") - 1
        # What leaves at this instant was found only by what came before it; a packet that is sent at once is there
        # for nobody.
        left = np.searchsorted(np.sort(leaves[at]), queued, side="left")
        missing[at] = np.maximum(0, hops["ahead_packets"][at] - np.maximum(0, came - left))
    return missing
