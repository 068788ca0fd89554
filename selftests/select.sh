#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The ways to choose avgdev: a namespace's default, a socket option (also in the middle of a connection), a route
. "$(dirname "$0")/lib.sh"

plan 21
need_avgdev
setup_path

receive
send data:1 info:plain
check "nobody gets it unasked" is "$(told plain cc | grep -c avgdev)" = 0

outside=$(cat /proc/sys/net/ipv4/tcp_congestion_control)
sysctl_in "$snd" tcp_congestion_control=avgdev
receive
send data:1 info:default
check "the default of a namespace: its connections use it" test "$(told default cc)" = avgdev
check "other namespaces keep theirs" test "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" = "$outside"
sysctl_in "$snd" tcp_congestion_control=reno

receive
send cc:avgdev data:1 info:option
check "a socket option before connecting" test "$(told option cc)" = avgdev

route_to_receiver congctl avgdev
receive
send data:1 info:route
check "a route" test "$(told route cc)" = avgdev
route_to_receiver initcwnd 40

# shellcheck disable=SC2016 # expanded by the inner shell
as_nobody='setpriv --reuid 65534 --clear-groups python3 -c "
import socket
socket.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b\"avgdev\")"'
check "users without privileges may choose it" sh -c "$as_nobody"

connections=$(count "$snd" connections)
faults "10 late 60"
receive
send cc:reno data:40 sleep:115 info:before cc:avgdev info:after acked sleep:200 info:end
check "switching to it with holes: there were some" is "$(told before sacked)" -gt 0
check "switching to it with holes: it takes over" test "$(told after cc)" = avgdev
check "switching to it with holes: it is counted" is "$(count "$snd" connections)" = $((connections + 1))
check "switching to it with holes: all data arrives" received 40000
check "switching to it with holes: it starts from the standard threshold" is "$(told after threshold)" = 3

faults "10 late 60"
receive
send cc:avgdev data:40 sleep:115 info:before cc:reno info:after acked sleep:200 info:end
check "switching away with holes: there were some" is "$(told before sacked)" -gt 0
check "switching away with holes: reno takes over" test "$(told after cc)" = reno
check "switching away with holes: all data arrives" received 40000
check "switching away with holes: within the kernel's own limit" is "$(told end reordering)" -le 300

faults "10 20 late 60"
receive
send cc:avgdev data:40 sleep:112 cc:reno cc:avgdev cc:cubic cc:avgdev sleep:20 cc:reno cc:avgdev acked data:40 acked sleep:200 info:end
check "to and fro in the middle of a recovery: all data arrives" received 80000
check "to and fro in the middle of a recovery: it is in charge at the end" test "$(told end cc)" = avgdev
check "to and fro in the middle of a recovery: nothing is left outstanding" is "$(told end unacked)" = 0

receive
faults "5 late 60"
send data:40 cc:avgdev cc:reno acked info:end
check "chosen and dropped at once: all data arrives" received 40000

check "an unknown name is refused" refute sysctl_in "$snd" tcp_congestion_control=nosuch
check "and the default stays" test "$(ip netns exec "$snd" cat /proc/sys/net/ipv4/tcp_congestion_control)" = reno
