"""The choice of a scheme for given flows, fabric and goals: `priolane advise`.

goals        what is asked for: bounds of metrics, absolute or relative to the best
fabric       what switches and hosts can do
flow_blocks  the flow list, cut into blocks of time: most for training, the rest for judging
feasible     which shipped schemes can be deployed here, and why others cannot
candidates   the schemes that are simulated, with thresholds solved for the training blocks
trials       simulated runs of candidates on blocks
racing       successive halving: more blocks for fewer candidates
tuning       thresholds of the leader, moved while that helps
sensitivity  the best two under more load, a burst, a failed link, more noise
advise       all of it in order
answer       what came of it; claims, page, place: the files that it leaves
"""

from priolane.advice.answer import Advice
from priolane.advice.course import advise
from priolane.advice.request import Request

__all__ = ["Advice", "Request", "advise"]
