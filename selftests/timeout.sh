#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A retransmission timeout: avg and mdev decay, equations (13) and (14), and the threshold with them
#
# An extent of 29 is learnt. Then 21 segments are sent of which the first is lost: 20 duplicate ACKs are not 30, so that
# only the timer is left. Data packets 0 to 41 are the lesson: 40, one sent twice, one more.
. "$(dirname "$0")/lib.sh"

plan 17
need_avgdev
setup_path

lesson=(cc:avgdev data:40 sleep:200 data:1 acked info:learnt)

timeouts=$(count "$snd" timeouts)
lowered=$(count "$snd" threshold_lowered)
faults "10 late 60" "42 lost"
receive
send "${lesson[@]}" data:21 acked sleep:300 info:timeout
check "linux: the lesson is learnt" is "$(told learnt threshold)" = 30
check "linux: there is a timeout" is "$(told timeout timeouts)" = 1
check "linux: it is counted" is "$(count "$snd" timeouts)" = $((timeouts + 1))
check "linux: avg is halved" is "$(told timeout avg_q16)" = $((29 << 15))
check "linux: so is the threshold, 14.5 rounded up, and one" is "$(told timeout threshold)" = 16
check "linux: which is counted" is "$(count "$snd" threshold_lowered)" -gt "$lowered"
check "linux: the kernel's own reset to 3 does not last" is "$(told timeout reordering)" = 16
check "linux: all data arrives" received 62000

faults "10 late 60" "42 43 44 lost"
receive
send "${lesson[@]}" data:3 acked sleep:300 info:timeout
check "linux: a timeout with no duplicate ACK says nothing about the threshold" is "$(told timeout avg_q16)" = $((29 << 16))
check "linux: it is counted all the same" is "$(told timeout timeouts)" = 1

param tcp_avgdev profile paper
param tcp_avgdev ub_rtts 0
param tcp_avgdev c1 250
faults "10 late 60" "42 43 44 lost"
receive
send "${lesson[@]}" data:3 acked sleep:300 info:timeout
check "paper: the lesson is learnt" is "$(told learnt threshold)" = 30
check "paper: every timeout counts" is "$(told timeout timeouts)" = 1
check "paper: C1 = 0.25 takes avg to a quarter" is "$(told timeout avg_q16)" = $((29 << 14))
check "paper: 7.25 rounded down, and one" is "$(told timeout threshold)" = 8
check "paper: all data arrives" received 44000

# Two lessons of different length, so that mdev is not 0: 29, then 19: mdev = 0.3 * 10, avg = 26
param tcp_avgdev c1 500
param tcp_avgdev strict_gt 0
param tcp_avgdev limited_transmit kernel
param tcp_avgdev lambda 0
param tcp_avgdev sample_src all
faults "10 47 late 60" "68 69 70 lost"
receive
send "${lesson[@]}" data:25 sleep:200 data:1 acked info:two data:3 acked sleep:300 info:timeout
check "paper: a second, shorter length gives a deviation of 3" is "$(told two mdev_q16)" = $((3 << 16))
check "paper: C2 = 0.25 takes mdev to a quarter" is "$(told timeout mdev_q16)" = $(((3 << 16) / 4))
