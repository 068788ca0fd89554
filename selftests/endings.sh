#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Connections that end, or never begin, in the middle of something; afterwards the modules can go
. "$(dirname "$0")/lib.sh"

plan 13
need_avgdev
setup_path
sysctl_in "$snd" tcp_orphan_retries=2

faults "10 20 30 late 60"
receive
send cc:avgdev data:40 sleep:120 info:end close
check "closed in recovery: it was one" is "$(told end ca_state)" = 3
check "closed in recovery: all data arrives" received 40000

faults "10 late 60"
receive
send cc:avgdev data:40 sleep:10 close
check "closed with all data in flight: all data arrives" received 40000

faults "10 late 60"
receive
send cc:avgdev data:40 sleep:120 info:end abort
check "reset in recovery: it was one" is "$(told end ca_state)" = 3
check "reset in recovery: the receiver is told" busywait 100 grep -q reset "$tmp/received"

faults "10 late 60"
receive
ip netns exec "$snd" timeout 60 "$here/flow.py" send 10.0.2.2 "$PORT" cc:avgdev data:40 sleep:60000 &
sleep 0.22
# shellcheck disable=SC2046 # words
kill -9 $(ip netns pids "$snd")
wait $! 2> /dev/null
check "sender killed in recovery: what it sent arrives" received 40000

faults "10 late 60"
receive
send cc:avgdev data:40 sleep:120 "run:ip netns exec $rcv ss -K sport = :$PORT > /dev/null" sleep:500 2> /dev/null
check "reset by the peer in recovery: no more than a lost connection" loaded tcp_avgdev

# The first SYN is lost, and the first SYN-ACK; both ends use avgdev, which has no state yet.
sysctl_in "$snd" tcp_congestion_control=avgdev
sysctl_in "$rcv" tcp_congestion_control=avgdev
timeouts=$(snmp "$snd" TCPTimeouts)
ip netns exec "$mid" nft -f - << 'N'
flush ruleset
table inet faults {
chain forward { type filter hook forward priority 0;
tcp flags & (syn | ack) == syn numgen inc mod 1000000 0 drop
tcp flags & (syn | ack) == (syn | ack) numgen inc mod 1000000 0 drop
}
}
N
receive
send data:10 acked info:end
check "SYN and SYN-ACK lost: the timer struck" is "$(snmp "$snd" TCPTimeouts)" -gt "$timeouts"
check "SYN and SYN-ACK lost: all data arrives" received 10000
check "SYN and SYN-ACK lost: the threshold is 3" is "$(told end reordering)" = 3

ip netns exec "$snd" timeout 3 "$here/flow.py" send 10.0.2.2 1 data:1 2> /dev/null
check "a refused connection leaves the modules" loaded tcp_avgdev

for name in snd rcv; do
	sysctl_in "${!name}" tcp_congestion_control=reno
done
check "afterwards the algorithm can be unloaded" busywait 300 rmmod tcp_avgdev
check "and its engine" rmmod tcp_reorder
