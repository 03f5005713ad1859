"""The configurations of switches and hosts for one scheme of an experiment: a neutral plan, and a function for each
target.

`read.make_plan` makes the plan from the merged experiment, `targets.TARGETS` names the functions. None drops
anything: what a target cannot express is refused, or stands in one of the lists of `findings.Findings`.
"""
