#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Namespaces: settings and counters of their own, and an end with connections alive
. "$(dirname "$0")/lib.sh"

plan 8
need_avgdev
setup_path
other=''
setup_ns other

faults "10 late 60"
receive
send cc:avgdev data:40 acked sleep:200
received 40000 > /dev/null
check "the sender's namespace counts its false fast retransmission" is "$(count "$snd" false_fast_retransmits)" = 1
check "the sender's namespace counts its connection" is "$(count "$snd" connections)" = 1
check "another one counts nothing" is "$(count "$other" connections)" = 0
check "nor does the receiver's, which did not use it" is "$(count "$rcv" connections)" = 0

sysctl_in "$snd" tcp_congestion_control=avgdev
sysctl_in "$other" tcp_congestion_control=reno
receive
send data:1 info:here
check "a default is of one namespace" test "$(told here cc)" = avgdev
rcv=$other receive
snd=$other TO=127.0.0.1 send data:1 info:there
check "and another namespace has another" test "$(told there cc)" = reno

# The path ends, and its sender, with the connection's data in flight and holes open.
faults "10 lost"
sysctl_in "$snd" tcp_orphan_retries=1
receive
ip netns exec "$snd" timeout 60 "$here/flow.py" send 10.0.2.2 "$PORT" cc:avgdev data:40 sleep:60000 > /dev/null 2>&1 &
sender=$!
sleep 0.13
kill $sender
for name in snd mid rcv; do
	ip netns del "${!name}"
done
wait $sender 2> /dev/null
check "a namespace goes with a connection in it, which the modules survive" loaded tcp_avgdev
check "and then both can be unloaded" busywait 100 unload
