#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A fast retransmission that a DSACK proves false is undone, and counted
#
#   sender            receiver     segment 10 is 60 ms late: 29 later ones arrive before it, the 3rd of them
#     |--- 10 ------.               makes the sender retransmit it, 100 ms after it was sent; the original
#     |--- 11… ------\----->|       arrives at 110 ms, its copy at 150 ms, and the receiver reports the copy
#     |<------ SACK --\-----|       as a duplicate
#     |--- 10 again ---\--->|
#     |<------ ACK ------'--|
#     |<------ DSACK -------|
. "$(dirname "$0")/lib.sh"

plan 25
need_avgdev
setup_path
trace tcp_reorder_undo tcp_reorder_sample

for profile in linux paper; do
	param tcp_avgdev profile "$profile"
	receive
	before=$(count "$snd" false_fast_retransmits)
	undone=$(count "$snd" reductions_undone)
	dsack_undo=$(snmp "$snd" TCPDSACKUndo)
	faults "10 late 60"
	: > "$tracing/trace"
	send cc:avgdev data:40 sleep:130 info:reduced acked sleep:200 info:undone
	check "$profile: all data arrives" received 40000
	check "$profile: one segment is retransmitted" is "$(told undone total_retrans)" = 1
	check "$profile: the window is halved, to 25, by the retransmission" is "$(told reduced ssthresh)" = 25
	check "$profile: the peer reports one duplicate" is "$(told undone dsack_dups)" = 1
	check "$profile: it is counted as a false fast retransmission" \
		is "$(count "$snd" false_fast_retransmits)" = $((before + 1))
	check "$profile: a reduction is undone" is "$(count "$snd" reductions_undone)" = $((undone + 1))
	check "$profile: the kernel undoes it by DSACK" is "$(snmp "$snd" TCPDSACKUndo)" = $((dsack_undo + 1))
	check "$profile: the undo is traced with the window to come back to" is "$(traced tcp_reorder_undo new)" = 50
	check "$profile: so is the false fast retransmission" is "$(traced tcp_reorder_sample false_fr)" = 1
	check "$profile: its length is the mean over both copies, 29 each" is "$(traced tcp_reorder_sample length)" = 29
	if [ "$profile" = linux ]; then
		check "linux: the window is back at once" is "$(told undone cwnd)" -ge 50
	else
		check "paper: the window is not, slow start leads there" is "$(told undone cwnd)" -lt 50
		check "paper: up to it at least" is "$(told undone ssthresh)" -ge 50
	fi
done

receive
undone=$(count "$snd" reductions_undone)
faults "10 lost"
send cc:avgdev data:40 acked sleep:400 info:lost
check "a segment really lost is retransmitted" is "$(told lost total_retrans)" = 1
check "and the reduction stays" is "$(count "$snd" reductions_undone)" = "$undone"
