#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With timestamps the kernel sees at once that a retransmission was not needed (Eifel): the undo comes before the DSACK
. "$(dirname "$0")/lib.sh"

plan 7
need_avgdev
setup_path
sysctl_in "$snd" tcp_timestamps=1
sysctl_in "$rcv" tcp_timestamps=1

undone=$(count "$snd" reductions_undone)
false_frs=$(count "$snd" false_fast_retransmits)
dsack_undo=$(snmp "$snd" TCPDSACKUndo)
faults "10 late 60"
receive
send cc:avgdev data:40 sleep:200 info:undone data:1 acked info:end
check "all data arrives" received 41000
check "one segment is retransmitted" is "$(told end total_retrans)" = 1
check "the reduction is undone" is "$(count "$snd" reductions_undone)" = $((undone + 1))
check "before the DSACK is there" is "$(told undone dsack_dups)" = 0
check "so not by it" is "$(snmp "$snd" TCPDSACKUndo)" = "$dsack_undo"
check "the DSACK still proves the retransmission false" is "$(count "$snd" false_fast_retransmits)" = $((false_frs + 1))
check "and raises the threshold" is "$(told end threshold)" = 30
