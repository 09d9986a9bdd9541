#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Emulates network links with a delay: creates pairs of network devices, and forwards what is sent on one to the other after a
delay. Replaces tc's netem, which not every kernel has; tools/emulated_hosts.sh calls it.

  tools/link_delay.py 2.5ms NETNS/DEVICE=NETNS/DEVICE [NETNS/DEVICE=NETNS/DEVICE ...]

Devices are tap devices of this process (needs root and /dev/net/tun), each in its own network namespace. They are created at the
start and removed at the end. Frames are held in user space, separately for each direction, and stay in order; none is lost. As on
a veth pair, TCP may pass pieces of up to 64 KiB as one frame. So a relay in Python is fast enough: 1 Gbit/s takes a few per cent
of a core. Prints "ready" when all devices exist. At its end (SIGTERM), prints how many frames were held too long, and how long.
"""
import collections
import ctypes
import fcntl
import os
import re
import select
import signal
import struct
import sys
import time

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4 = 0x01, 0x02
MOST_BYTES = 1 << 17  # largest frame
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds_of(text):
    """ "2.5ms" -> 0.0025 """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s)", text)
    if not found:
        raise ValueError(f"[link.delay] delay: expected a number with us, ms or s, got '{text}'; try 2.5ms")
    return float(found[1]) * UNITS[found[2]]


def ends_of(text):
    """ "one/eth0=two/port1" -> [("one", "eth0"), ("two", "port1")] """
    ends = [tuple(end.split("/")) for end in text.split("=")]
    if len(ends) != 2 or any(len(end) != 2 or not all(end) for end in ends):
        raise ValueError(f"[link.delay] pair: expected NETNS/DEVICE=NETNS/DEVICE, got '{text}'; try a/eth0=b/port1")
    return ends


class Line:
    """One direction of a link: sends what it receives after a delay, in order."""

    def __init__(self, delay):
        self.delay = delay
        self.held = collections.deque()
        self.frames = 0
        self.late = 0.0  # sum of delays beyond the intended one, in seconds
        self.latest = 0.0

    def put(self, now, frame):
        self.held.append((now + self.delay, frame))

    def next_due(self):
        """Time of time.monotonic() at which the next frame is due; None if no frame is held."""
        return self.held[0][0] if self.held else None

    def take(self, now):
        """Removes and returns the frames that are due."""
        while self.held and self.held[0][0] <= now:
            due, frame = self.held.popleft()
            self.frames += 1
            self.late += now - due
            self.latest = max(self.latest, now - due)
            yield frame


def report(lines):
    """Line of text with the number of frames and their additional delays."""
    frames = sum(line.frames for line in lines)
    mean = sum(line.late for line in lines) / max(frames, 1)
    latest = max((line.latest for line in lines), default=0.0)
    return f"[link.delay] {frames} frames held; longer than asked by {mean * 1e3:.2f} ms on average, {latest * 1e3:.1f} ms at most"


def make_tap(netns, device):
    """Creates a tap device in a network namespace. Returns its file descriptor."""
    with open(f"/run/netns/{netns}", "rb") as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"[link.delay] namespace {netns}")
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH14x", device.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)
    return tap


def forward(tap, line, now):
    """Sends the frames that are due. A device that is down or full loses them."""
    for frame in line.take(now):
        try:
            os.write(tap, frame)
        except OSError:
            pass


def accept(tap, line):
    """Puts all frames that have arrived on a tap into the line."""
    try:
        while True:
            line.put(time.monotonic(), os.read(tap, MOST_BYTES))
    except OSError:
        pass  # no more frames, or the device is down


def carry(pairs, delay, stop):
    """Carries frames until `stop` becomes readable or its other end is closed. @return the lines"""
    lines = {}  # receiving tap: (sending tap, line)
    for one, other in pairs:
        lines[one] = (other, Line(delay))
        lines[other] = (one, Line(delay))
    while True:
        dues = [line.next_due() for _, line in lines.values() if line.held]
        wait = max(min(dues) - time.monotonic(), 0.0) if dues else None
        ready = select.select([*lines, stop], [], [], wait)[0]
        if stop in ready:
            return [line for _, line in lines.values()]
        for tap in ready:
            accept(tap, lines[tap][1])
        now = time.monotonic()
        for to, line in lines.values():
            forward(to, line, now)


def main():
    if len(sys.argv) < 3:
        sys.exit("[link.delay] arguments: expected DELAY NETNS/DEVICE=NETNS/DEVICE ..., got too few; try the head of this file")
    try:
        delay = seconds_of(sys.argv[1])
        pairs = [ends_of(text) for text in sys.argv[2:]]
    except ValueError as error:
        sys.exit(str(error))
    taps = [tuple(make_tap(*end) for end in pair) for pair in pairs]
    # Real-time priority, because ranks that wait for each other would keep the cores busy.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    stop, told = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(told, b"x"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the starting process ends it, after its users
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # ends with the process that started it
    print("ready", flush=True)
    print(report(carry(taps, delay, stop)), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
