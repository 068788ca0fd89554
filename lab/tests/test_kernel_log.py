# SPDX-License-Identifier: GPL-2.0
"""Which lines of a kernel log count as the kernel's complaint about itself."""

import pytest

from lab.guest import find_trouble

COMPLAINTS = [
    "WARNING: CPU: 0 PID: 12 at net/ipv4/tcp_input.c:2300 tcp_fastretrans_alert+0x1/0x2",
    "WARNING: possible circular locking dependency detected",
    "WARNING: suspicious RCU usage",
    "WARNING: inconsistent lock state",
    "BUG: KASAN: slab-use-after-free in tcp_reorder_release+0x10/0x20",
    "BUG: sleeping function called from invalid context at mm/slab.h:1",
    "BUG: unable to handle kernel NULL pointer dereference",
    "kernel BUG at net/core/skbuff.c:100!",
    "Oops: 0000 [#1]",
    "Kernel panic - not syncing: Kernel mode fault at addr 0x0, ip 0x1",
    "INFO: task iperf3:55 blocked for more than 120 seconds.",
    "refcount_t: underflow; use-after-free.",
    "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "unregister_netdevice: waiting for veth0 to become free. Usage count = 2",
    "rcu: INFO: rcu_sched self-detected stall on CPU",
]
HARMLESS = [
    "tcp_reorder: loading out-of-tree module taints kernel.",
    "lab: exit status 3",
    "netem: version 1.3",
    "debug: nothing",
    "not ok 1 some_case",
    "TCP: cubic registered",
]


@pytest.mark.parametrize("line", COMPLAINTS)
def test_complaint(line):
    assert find_trouble(f"[    1.000000] booting\n[    2.000000] {line}\n") == [f"[    2.000000] {line}"]


@pytest.mark.parametrize("line", HARMLESS)
def test_harmless(line):
    assert find_trouble(f"[    1.000000] {line}\n") == []
