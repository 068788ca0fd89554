#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TSO, GSO and GRO, on and off, at full speed: reordering is noticed, proven, undone and waited for
. "$(dirname "$0")/lib.sh"

plan 10
need_avgdev
setup_path
ip netns exec "$snd" tc qdisc del dev s root
sysctl_in "$snd" tcp_timestamps=1
sysctl_in "$rcv" tcp_timestamps=1

for state in off on; do
	offload "$snd" s $state
	offload "$mid" a $state
	offload "$mid" b $state
	offload "$rcv" r $state
	false_frs=$(count "$snd" false_fast_retransmits)
	undone=$(count "$snd" reductions_undone)
	faults "every 40 late 20"
	receive
	send cc:avgdev data:1000 acked data:1000 acked data:1000 acked info:end
	check "offloads $state: all data arrives" received 3000000
	check "offloads $state: false fast retransmissions are noticed" is "$(count "$snd" false_fast_retransmits)" -gt "$false_frs"
	check "offloads $state: reductions are undone" is "$(count "$snd" reductions_undone)" -gt "$undone"
	check "offloads $state: the threshold is raised" is "$(told end threshold)" -gt 3
	check "offloads $state: no timeout" is "$(told end timeouts)" = 0
done
