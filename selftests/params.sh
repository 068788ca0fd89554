#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Parameters: what is out of range or no known word is refused, in a sentence, and changes nothing
. "$(dirname "$0")/lib.sh"

numbers="alpha:0:1001 beta:0:1001 lambda:-1:8001 gamma:0:1001 c1:-1:1001 c2:-1:1001 ub_rtts:-2:5
	tmo_reset_s:-2:86401 timer_guard:-2:2 strict_gt:-1:2"
words="profile sample_src limited_transmit count undo length rounding"

plan $((4 * 11 + 2 * 7 + 4))
need_avgdev

# refused MODULE NAME VALUE: it is, the parameter stays as it was, and the kernel log tells
refused() {
	local file=/sys/module/$1/parameters/$2 before lines
	before=$(cat "$file")
	lines=$(dmesg | wc -l)
	echo "$2=$3"
	(echo "$3" > "$file") 2> /dev/null && return 1
	[ "$(cat "$file")" = "$before" ] || return
	dmesg | tail -n +$((lines + 1)) | grep -q "parameter $2 "
}

# accepted MODULE NAME VALUE
accepted() {
	param "$1" "$2" "$3" && [ "$(param "$1" "$2")" = "$3" ]
}

for range in $numbers max_holes:15:4097; do
	IFS=: read -r name low high <<< "$range"
	module=tcp_avgdev
	[ "$name" = max_holes ] && module=tcp_reorder
	check "$name: $low is refused" refused $module "$name" "$low"
	check "$name: $high is refused" refused $module "$name" "$high"
	check "$name: no number is refused" refused $module "$name" many
	check "$name: the largest is accepted" accepted $module "$name" $((high - 1))
done
for name in $words; do
	check "$name: an unknown word is refused" refused tcp_avgdev "$name" nosuch
	check "$name: no word is refused" refused tcp_avgdev "$name" ""
done
check "profile: a known word is accepted" accepted tcp_avgdev profile paper
check "a number too long for any integer is refused" refused tcp_avgdev alpha 99999999999999999999

modprobe -qn tcp_avgdev && unload
if loaded tcp_avgdev || ! modprobe -qn tcp_avgdev; then
	skip "a wrong value at load time: the module is not loaded" "modprobe does not know tcp_avgdev, or it is in use"
	skip "a right value at load time is there" "as above"
else
	check "a wrong value at load time: the module is not loaded" refute modprobe -q tcp_avgdev alpha=0
	modprobe tcp_avgdev alpha=400
	check "a right value at load time is there" is "$(param tcp_avgdev alpha)" = 400
	unload
fi
