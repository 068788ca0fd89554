#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tiny windows: one to three segments in flight, late and lost ones among them, in both profiles
. "$(dirname "$0")/lib.sh"

plan 20
need_avgdev
setup_path

for profile in linux paper; do
	param tcp_avgdev profile "$profile"
	for window in 1 2 3; do
		route_to_receiver initcwnd $window window $((window * 1000))
		faults "every 5 late 60" "every 7 lost"
		receive --rcvbuf $((window * 1000))
		send cc:avgdev data:30 acked info:end
		check "$profile: $window segments, all data arrives" received 30000
		check "$profile: $window segments, the threshold is sane" is "$(told end threshold)" -ge 3
	done
	route_to_receiver initcwnd 40
	faults "every 5 late 60" "every 7 lost"
	receive
	send sndbuf:1 cc:avgdev data:30 acked info:end
	check "$profile: the smallest send buffer, all data arrives" received 30000
	check "$profile: the smallest send buffer, the threshold is sane" is "$(told end threshold)" -ge 3
	faults "every 50 late 60"
	receive
	send mss:88 cc:avgdev data:30 acked info:end
	check "$profile: the smallest segments, all data arrives" received 30000
	check "$profile: the smallest segments, nothing is left outstanding" is "$(told end unacked)" = 0
done
