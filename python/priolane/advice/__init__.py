"""The choice of a scheme for given flows, fabric and goals: `priolane advise`.

goals        what is asked for: bounds of metrics, absolute or relative to the best
fabric       what switches and hosts can do, and what runs today
flow_list    the flows; traffic: their source
sufficiency  what the list cannot tell; doubts: what makes answers uncertain
bounds       goals that no scheme can meet
feasible     which shipped schemes can be deployed here, and why others cannot
candidates   the schemes that are simulated, with thresholds solved for the flows
trials       simulated runs; samples: their flows in windows of start times; windows: how sure a value is
outcomes     what values mean for goals
pace         the budget, and whether it has room for an answer
racing       successive halving: more of the list for fewer candidates
tuning       thresholds of the leader, moved while that helps
changes      the steps from today to a candidate, and what they cost
remedies     what missing capabilities would give
sensitivity  the advice and today under more load, bursts, a failed link, more noise
course       all of it in order; stages: its parts
answer       what came of it; claims, page, place: the files that it leaves
"""

from priolane.advice.answer import Advice
from priolane.advice.course import advise
from priolane.advice.request import Request

__all__ = ["Advice", "Request", "advise"]
