"""The datagrams that a kernel takes together (UDP_GRO): run as a program, by root, with two network namespaces to be
made.

Single datagrams of a few ECN codepoints wait in a queue and leave together over a veth. Prints how many came, how many
of them in groups, and how many with another TOS than they were sent with.
"""

import ctypes
import fcntl
import os
import random
import socket
import struct
import subprocess

_COUNT, _BYTES = 1_000, 1_000
_UDP_GRO, _ETHTOOL, _TSO, _GRO = 104, 0x8946, 0x1F, 0x2C
# SO_SNDBUFFORCE and SO_RCVBUFFORCE: nothing is held up, and nothing lost.
_SEND_ROOM, _RECEIVE_ROOM, _ROOM = 32, 33, 1 << 23


def _call(command: str) -> None:
    subprocess.run(command.split(), check=True)


def _enter(namespace: str) -> socket.socket:
    """A socket in a namespace, which this thread enters."""
    place = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(place, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(place)
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def _offload(of: socket.socket, which: int, value: int) -> None:
    command = ctypes.create_string_buffer(struct.pack("II", which, value))
    fcntl.ioctl(of, _ETHTOOL, struct.pack("16sP", b"kg0", ctypes.addressof(command)))


def _made(sender: str, receiver: str) -> None:
    for command in (
        f"ip netns add {sender}",
        f"ip netns add {receiver}",
        f"ip -n {sender} link add kg0 type veth peer name kg0 netns {receiver}",
        f"ip -n {sender} address add 10.199.8.1/24 dev kg0",
        f"ip -n {receiver} address add 10.199.8.2/24 dev kg0",
        f"ip -n {sender} link set kg0 up",
        f"ip -n {receiver} link set kg0 up",
        f"tc -n {sender} qdisc add dev kg0 root handle 1: htb default 1",
        f"tc -n {sender} class add dev kg0 parent 1: classid 1:1 htb rate 8kbit quantum 60000",
        f"tc -n {sender} qdisc add dev kg0 parent 1:1 pfifo limit 10000",
    ):
        _call(command)


def _carry(sender: str, receiver: str) -> tuple[int, int, int]:
    into = _enter(receiver)
    into.bind(("10.199.8.2", 7077))
    into.settimeout(1)
    into.setsockopt(socket.SOL_SOCKET, _RECEIVE_ROOM, _ROOM)
    _offload(into, _GRO, 1)
    into.setsockopt(socket.IPPROTO_UDP, _UDP_GRO, 1)
    into.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    out = _enter(sender)
    out.settimeout(0)
    out.setsockopt(socket.SOL_SOCKET, _SEND_ROOM, _ROOM)
    # Else what the sender's kernel could cut later goes past the receiver's groups.
    _offload(out, _TSO, 0)
    draw = random.Random(1)  # noqa: S311 - no secret
    for _ in range(_COUNT):
        tos = 8 | draw.choice([2, 2, 2, 2, 2, 2, 3, 1])
        out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        out.sendto(bytes([tos]) * _BYTES, ("10.199.8.2", 7077))
    _call(f"tc -n {sender} class change dev kg0 parent 1: classid 1:1 htb rate 10gbit quantum 60000")
    came = grouped = wrong = 0
    while came < _COUNT:
        try:
            data, control, _, _ = into.recvmsg(1 << 16, 512)
        except TimeoutError:
            break
        messages = {(level, kind): value for level, kind, value in control}
        tos = messages[socket.IPPROTO_IP, socket.IP_TOS][0]
        length = struct.unpack("i", messages.get((socket.IPPROTO_UDP, _UDP_GRO), struct.pack("i", len(data))))[0]
        parts = [data[at : at + length] for at in range(0, len(data), length)]
        came += len(parts)
        grouped += len(parts) if len(parts) > 1 else 0
        wrong += sum(part != bytes([tos]) * _BYTES for part in parts)
    return came, grouped, wrong


def main() -> None:
    """Makes the namespaces and removes them."""
    sender, receiver = (f"kg-{os.getpid()}-{end}" for end in "ab")
    try:
        _made(sender, receiver)
        print(*_carry(sender, receiver))  # noqa: T201
    finally:
        for namespace in (sender, receiver):
            subprocess.run(["ip", "netns", "delete", namespace], check=False)


if __name__ == "__main__":
    main()
