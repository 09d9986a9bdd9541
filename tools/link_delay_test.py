#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of the arguments of link_delay.py, and of its delays; no device is made."""
import os
import pathlib
import socket
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import link_delay  # noqa: E402


class Arguments(unittest.TestCase):
    def test_durations(self):
        self.assertEqual(link_delay.seconds_of("2.5ms"), 0.0025)
        self.assertEqual(link_delay.seconds_of("1s"), 1.0)
        for text in ("", "5", "-1ms", "5m", "5 ms"):
            with self.assertRaisesRegex(ValueError, "link.delay"):
                link_delay.seconds_of(text)

    def test_pairs(self):
        self.assertEqual(link_delay.ends_of("a/eth0=b/port1"), [("a", "eth0"), ("b", "port1")])
        for text in ("", "a/eth0", "a/eth0=b", "a/eth0=b/", "a/b/c=d/e", "a/b=c/d=e/f"):
            with self.assertRaisesRegex(ValueError, "NETNS/DEVICE"):
                link_delay.ends_of(text)


class Lines(unittest.TestCase):
    def test_frames_come_out_after_the_delay_in_their_order(self):
        line = link_delay.Line(10.0)
        self.assertIsNone(line.next_due())
        for now, frame in ((0.0, b"a"), (1.0, b"b"), (5.0, b"c")):
            line.put(now, frame)
        self.assertEqual(line.next_due(), 10.0)
        self.assertEqual(list(line.take(9.9)), [])
        self.assertEqual(list(line.take(11.0)), [b"a", b"b"])
        self.assertEqual(line.next_due(), 15.0)
        self.assertEqual(list(line.take(19.0)), [b"c"])
        self.assertIsNone(line.next_due())

    def test_what_was_held_too_long_is_told(self):
        line, other = link_delay.Line(1.0), link_delay.Line(1.0)
        line.put(0.0, b"a")
        line.put(0.0, b"b")
        self.assertEqual(list(line.take(1.001)), [b"a", b"b"])
        other.put(0.0, b"c")
        self.assertEqual(list(other.take(1.004)), [b"c"])
        self.assertEqual(link_delay.report([line, other]),
                         "[link.delay] 3 frames held; longer than asked by 2.00 ms on average, 4.0 ms at most")
        self.assertIn(" 0 frames held", link_delay.report([]))


class Carrying(unittest.TestCase):
    def test_goes_both_ways_until_it_is_told_to_end(self):
        # Sockets replace tap devices: a frame sent into one pair comes out of the other.
        (near, one), (far, other) = (socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
        for each in (one, other):
            each.setblocking(False)
        end_read, end_write = os.pipe()
        lines = []
        with os.fdopen(end_read) as stop:
            thread = threading.Thread(target=lambda: lines.extend(link_delay.carry([(one.fileno(), other.fileno())], 0.001, stop)))
            thread.start()
            near.send(b"there")
            self.assertEqual(far.recv(100), b"there")
            far.send(b"back")
            self.assertEqual(near.recv(100), b"back")
            os.close(end_write)
            thread.join()
        self.assertEqual(sum(line.frames for line in lines), 2)
        for each in (near, one, far, other):
            each.close()


if __name__ == "__main__":
    unittest.main()
