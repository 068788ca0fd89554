#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ECN: a reduction that the network asked for is not undone by a DSACK
. "$(dirname "$0")/lib.sh"

plan 9
need_avgdev
setup_path
sysctl_in "$snd" tcp_ecn=1
sysctl_in "$rcv" tcp_ecn=1

undone=$(count "$snd" reductions_undone)
faults "10 late 60"
receive
send cc:avgdev data:40 sleep:200 data:1 acked info:end
check "no mark: the false fast retransmission is undone" is "$(count "$snd" reductions_undone)" = $((undone + 1))
check "no mark: none is reported" is "$(told end delivered_ce)" = 0

undone=$(count "$snd" reductions_undone)
false_frs=$(count "$snd" false_fast_retransmits)
faults "10 late 60" "5 ce"
receive
send cc:avgdev data:40 sleep:200 data:1 acked info:end
check "a mark before it: all data arrives" received 41000
check "a mark before it: it is reported" is "$(told end delivered_ce)" -gt 0
check "a mark before it: there is a fast retransmission" is "$(told end total_retrans)" = 1
check "a mark before it: the DSACK proves it false" is "$(count "$snd" false_fast_retransmits)" = $((false_frs + 1))
check "a mark before it: which raises the threshold" is "$(told end threshold)" -gt 3
check "a mark before it: but undoes nothing" is "$(count "$snd" reductions_undone)" = "$undone"
check "a mark before it: the window stays reduced" is "$(told end ssthresh)" -lt 30
