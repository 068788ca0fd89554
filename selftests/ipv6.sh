#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IPv6: the same events, counters and threshold
. "$(dirname "$0")/lib.sh"

plan 7
need_avgdev
[ -e /proc/net/if_inet6 ] || skip_all "this kernel has no IPv6"
setup_path

TO=fd00:2::2
faults "10 late 60"
receive
send cc:avgdev data:40 sleep:200 data:1 acked info:end ss:ss
check "all data arrives" received 41000
check "it went by IPv6" grep -q "fd00:1::1" "$tmp/sent"
check "the false fast retransmission is counted" is "$(count "$snd" false_fast_retransmits)" = 1
check "its reduction is undone" is "$(count "$snd" reductions_undone)" = 1
check "the threshold is raised to 30" is "$(told end threshold)" = 30
check "ss shows it" grep -q "reordering:30\b" "$tmp/sent"
route_to_receiver initcwnd 40 congctl avgdev
receive
send data:1 info:route
check "a route chooses it" test "$(told route cc)" = avgdev
