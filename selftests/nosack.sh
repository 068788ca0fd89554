#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A peer without SACK, and one that sends no DSACKs: less to learn from, and no harm
. "$(dirname "$0")/lib.sh"

plan 15
need_avgdev
setup_path

sysctl_in "$rcv" tcp_sack=0
faults "10 60 late 60" "90 lost"
receive
send cc:avgdev data:120 acked sleep:300 info:end
check "without SACK: all data arrives" received 120000
check "without SACK: the threshold stays 3" is "$(told end threshold)" = 3
check "without SACK: nothing is sampled" is "$(told end samples)" = 0
check "without SACK: the kernel still retransmits fast" is "$(snmp "$snd" TCPRenoRecovery)" -gt 0
sysctl_in "$rcv" tcp_sack=1

# Eight segments so late that each is retransmitted in one recovery, and their copies arrive first: 48 packets and one
# more that makes the sender look. Then a segment that two others overtake, too few for a retransmission, is a sample by
# itself.
sysctl_in "$rcv" tcp_dsack=0
unproven=$(count "$snd" retransmits_without_dsack)
faults "2 6 10 14 18 22 26 30 59 late 200"
receive
send cc:avgdev data:40 sleep:500 data:1 acked info:trials data:13 acked info:end
check "without DSACK: all data arrives" received 54000
check "without DSACK: eight retransmissions" is "$(told trials total_retrans)" = 8
check "without DSACK: each is given up on" is "$(count "$snd" retransmits_without_dsack)" = $((unproven + 8))
check "without DSACK: nothing proves one false" is "$(told trials dsack_dups)" = 0
check "without DSACK: no sample during the trials" is "$(told trials samples)" = 0
check "without DSACK: then a late original is one" is "$(told end samples)" = 1
check "without DSACK: of its length, 2" is "$(told end avg_q16)" = $((2 << 16))
sysctl_in "$rcv" tcp_dsack=1

filled=$(count "$snd" holes_filled_by_original)
faults "10 late 60"
receive
send cc:avgdev data:13 acked info:end
check "with DSACK a late original that was not sent twice is counted" \
	is "$(count "$snd" holes_filled_by_original)" = $((filled + 1))
check "with DSACK it is no sample" is "$(told end samples)" = 0
param tcp_avgdev sample_src all
faults "10 late 60"
receive
send cc:avgdev data:13 acked info:end
check "unless sample_src=all" is "$(told end samples)" = 1
check "whatever the source, 2 does not take the threshold below 3" is "$(told end threshold)" = 3
