#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A kernel whose losses RACK alone decides (6.17 and newer): avgdev refuses to load, and says why and what to do
. "$(dirname "$0")/lib.sh"

IFS=.- read -r major minor _ <<< "$(uname -r)"
[ $((major * 1000 + minor)) -ge 6017 ] || skip_all "Linux $(uname -r) can honour a threshold"

plan 5
check "the engine loads" load_one tcp_reorder
modprobe tcp_avgdev 2> "$tmp/said"
check "the algorithm does not" refute loaded tcp_avgdev
check "the reason is that it is not supported" grep -q "not supported" "$tmp/said"
check "the kernel log has a sentence with what to do" sh -c 'dmesg | grep -q "avgdev cannot work on this kernel.*use a kernel"'
check "the engine can be unloaded" rmmod tcp_reorder
