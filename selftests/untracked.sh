#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# More holes than max_holes: they are counted, not sampled, and do no harm
. "$(dirname "$0")/lib.sh"

plan 8
need_avgdev
setup_path
param tcp_reorder max_holes 16

untracked=$(count "$snd" holes_untracked)
# 16 holes fit, and this makes 20.
faults "0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 late 60"
receive
send cc:avgdev data:41 sleep:300 data:1 acked info:end
check "all data arrives" received 42000
check "those that do not fit are counted" is "$(count "$snd" holes_untracked)" -ge $((untracked + 4))
check "the threshold is sane: at least 3" is "$(told end threshold)" -ge 3
check "the threshold is sane: no more than was sent" is "$(told end threshold)" -le 42

untracked=$(count "$snd" holes_untracked)
false_frs=$(count "$snd" false_fast_retransmits)
faults "10 late 60"
receive
send cc:avgdev data:40 sleep:200 data:1 acked info:end
check "one hole in the next connection fits" is "$(count "$snd" holes_untracked)" = "$untracked"
check "and is sampled" is "$(count "$snd" false_fast_retransmits)" = $((false_frs + 1))

param tcp_reorder max_holes 512
untracked=$(count "$snd" holes_untracked)
faults "0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 late 60"
receive
send cc:avgdev data:41 sleep:300 data:1 acked info:end
check "all fit into 512" is "$(count "$snd" holes_untracked)" = "$untracked"
check "no allocation failed" is "$(count "$snd" allocations_failed)" = 0
