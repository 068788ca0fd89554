#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The threshold: raised by a false fast retransmission to what its length asks for, bounded by the timer
#
# Segment 10 is overtaken by 29 others, equation (4) gives 29, and "k > 29" is the kernel's threshold 30. A segment sent
# later lets the sender look at the DSACK, which comes when all else has been acknowledged.
. "$(dirname "$0")/lib.sh"

plan 20
need_avgdev
setup_path
trace tcp_reorder_threshold

learn=(data:40 sleep:200 data:1 acked)

raised=$(count "$snd" threshold_raised)
faults "10 late 60"
receive
send cc:avgdev info:start "${learn[@]}" info:learnt ss:ss
check "3 before the first sample" is "$(told start reordering)" = 3
check "raised to 30 by an extent of 29" is "$(told learnt threshold)" = 30
check "avg is 29 segments" is "$(told learnt avg_q16)" = $((29 << 16))
check "mdev is 0 after one sample" is "$(told learnt mdev_q16)" = 0
check "one sample" is "$(told learnt samples)" = 1
check "the kernel has it" is "$(told learnt reordering)" = 30
check "ss shows it" grep -q "^ss .*reordering:30\b" "$tmp/sent"
check "the rise is counted" is "$(count "$snd" threshold_raised)" = $((raised + 1))
check "the rise is traced: old" is "$(traced tcp_reorder_threshold old)" = 3
check "the rise is traced: new" is "$(traced tcp_reorder_threshold new)" = 30

filled=$(count "$snd" holes_filled_by_original)
faults "10 52 late 60"
receive
send cc:avgdev "${learn[@]}" info:learnt data:40 acked info:again
check "the same again is waited for" is "$(told again total_retrans)" = "$(told learnt total_retrans)"
check "and counted as filled by the original" is "$(count "$snd" holes_filled_by_original)" = $((filled + 1))

faults "10 late 60" "52 lost"
receive
send cc:avgdev "${learn[@]}" info:learnt data:60 acked info:again
check "a loss with more than 30 segments behind it is retransmitted" is "$(told again total_retrans)" = 2
check "without a timeout" is "$(told again timeouts)" = 0

param tcp_avgdev strict_gt 0
faults "10 late 60"
receive
send cc:avgdev "${learn[@]}" info:learnt
check "strict_gt=0 fires at the 29th already" is "$(told learnt threshold)" = 29
param tcp_avgdev strict_gt 1

# gamma * RTO / RTT * cwnd: RTO is at least RTT + 200 ms and RTT at least 100 ms.
param tcp_avgdev gamma 50
faults "10 late 60"
receive
send cc:avgdev "${learn[@]}" info:learnt
check "(11) with gamma 0.05 leaves a part of the window: above the least" is "$(told learnt threshold)" -gt 3
check "(11) with gamma 0.05 leaves a part of the window: below the estimate" is "$(told learnt threshold)" -lt 15
check "the estimate itself is not touched" is "$(told learnt avg_q16)" = $((29 << 16))
param tcp_avgdev gamma 700

param tcp_avgdev profile paper
faults "10 late 60"
receive
send cc:avgdev "${learn[@]}" info:learnt
check "the letter of (11), RTO < 2.86 RTT: the least, fired when k > 3" is "$(told learnt threshold)" = 4
param tcp_avgdev profile linux

sysctl_in "$snd" tcp_max_reordering=5
faults "10 late 60"
receive
send cc:avgdev "${learn[@]}" info:learnt cc:reno info:reno
check "tcp_max_reordering bounds what the next algorithm finds" is "$(told reno reordering)" -le 5
