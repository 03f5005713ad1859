"""The experiment of the tests on real hosts: four flows over one switch."""

# 1.46 MB are 1000 packets of the simulator.
FLOWS = "start_ns,src,dst,bytes\n0,0,3,1460000\n0,1,3,1460000\n100000,2,3,14600\n2500000,0,1,1\n"


def three_senders(schemes: str) -> str:
    """The experiment with these schemes, as a TOML list; its flows are `FLOWS` in `flows.csv`."""
    return f"""
title = "Three senders, one receiver"
schemes = {schemes}
seeds = 1
time = {{ flows = 4, limit = "20ms" }}
[topology]
kind = "single_switch"
hosts = 4
host_link = {{ rate = "10Gbps", delay = "1us" }}
[[group]]
name = "list"
hosts = "*"
app = "flows"
list = "flows.csv"
"""
