#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 200 connections with holes leave no memory behind
. "$(dirname "$0")/lib.sh"

plan 4
need_avgdev
setup_path
mountpoint -q /sys/kernel/debug || { mount -t debugfs none /sys/kernel/debug 2> /dev/null && defer umount /sys/kernel/debug; }
leaks=/sys/kernel/debug/kmemleak

# slab_kb: memory that the kernel could not give back at once
slab_kb() {
	sleep 1
	sed -n 's/^SUnreclaim: *\([0-9]*\) kB/\1/p' /proc/meminfo
}

connect() {
	receive --connections "$1"
	TIMES=$1 send cc:avgdev data:20 acked
	busywait 100 refute kill -0 "$receiver"
}

faults "every 7 late 60"
[ -e $leaks ] && echo clear > $leaks
connect 100
before_kb=$(slab_kb)
filled=$(($(count "$snd" holes_filled_by_original) + $(count "$snd" false_fast_retransmits)))
connect 200
check "there was something to allocate for" \
	is $(($(count "$snd" holes_filled_by_original) + $(count "$snd" false_fast_retransmits))) -ge $((filled + 200))
# A leak of the least that a connection with a hole needs, 512 bytes and 192, would be 140 kB.
if [ -e $leaks ]; then
	skip "200 more connections need no more memory than 100" "this kernel keeps freed memory, to check it"
else
	check "200 more connections need no more memory than 100" is $(($(slab_kb) - before_kb)) -lt 100
fi
check "the modules can be unloaded" busywait 300 unload
if [ -e $leaks ]; then
	sleep 6
	echo scan > $leaks
	sleep 6
	echo scan > $leaks
	check "the kernel finds no leak of ours" refute grep -q -A 20 'tcp_\(reorder\|avgdev\)' $leaks
else
	skip "the kernel finds no leak of ours" "no kmemleak in this kernel"
fi
