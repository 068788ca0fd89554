#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Loading and unloading: the order, by name, and never under a connection or a namespace that uses it
. "$(dirname "$0")/lib.sh"

plan 17
need_avgdev
unload || skip_all "the modules are in use"
setup_ns ns

available() {
	ip netns exec "$ns" sysctl -n net.ipv4.tcp_available_congestion_control | grep -qw avgdev
}

file=$(modinfo -n tcp_avgdev 2> /dev/null || true)
[ -e "$file" ] || file=$modules/tcp_avgdev.ko
[ -e "$file" ] || file=$here/../tcp_avgdev/tcp_avgdev.ko

check "avgdev is not offered while the module is not loaded" refute available
check "the algorithm without its engine is refused" refute insmod "$file"
load_one tcp_reorder
check "the engine alone offers no algorithm" refute available
check "the engine alone has its counters" ip netns exec "$ns" test -r /proc/net/tcp_reorder
check "the engine alone can be unloaded" rmmod tcp_reorder
check "its counters go with it" refute ip netns exec "$ns" test -e /proc/net/tcp_reorder

if modprobe -qn tcp_avgdev; then
	check "choosing avgdev in a namespace loads both modules" sysctl_in "$ns" tcp_congestion_control=avgdev
	check "and selects it" is "$(ip netns exec "$ns" cat /proc/sys/net/ipv4/tcp_congestion_control | wc -c)" = 7
else
	skip "choosing avgdev in a namespace loads both modules" "modprobe does not know tcp_avgdev: make install"
	load_one tcp_reorder
	load_one tcp_avgdev
	sysctl_in "$ns" tcp_congestion_control=avgdev
	skip "and selects it" "as above"
fi
check "it is offered" available
check "a namespace that has it as default keeps the module" refute rmmod tcp_avgdev
check "the algorithm keeps its engine" refute rmmod tcp_reorder
sysctl_in "$ns" tcp_congestion_control=reno
check "after the namespace has chosen another it can be unloaded" unload

load_one tcp_reorder
load_one tcp_avgdev
rcv=$ns snd=$ns TO=127.0.0.1
receive
send cc:avgdev data:1 "run:rmmod tcp_avgdev 2> /dev/null || echo refused" acked
check "a connection that uses it keeps the module" grep -qx refused "$tmp/sent"
check "and goes on" received 1000
check "after the connection it can be unloaded" busywait 50 unload

load_one tcp_reorder
load_one tcp_avgdev
sysctl_in "$ns" tcp_congestion_control=avgdev
ip netns del "$ns"
check "a namespace that is deleted gives the module back" busywait 50 unload

for _ in {1..20}; do
	load_one tcp_reorder
	load_one tcp_avgdev
	unload
done
check "twenty loads and unloads leave nothing" refute loaded tcp_reorder
