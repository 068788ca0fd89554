# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Helpers of the shell tests: TAP, undoing, namespaces, one path with exact control over single packets.
#
# A test sources this, calls `plan N`, and N times `check SENTENCE COMMAND…`. It exits 0, 1 (some check failed) or
# 4 (skipped). Everything it changes it undoes, by `defer` right behind the change.
#
# Environment, for other machines than the lab's guests:
#   TCP_REORDER_MODULES  folder of tcp_reorder.ko and tcp_avgdev.ko, used where modprobe does not know them
#                        [the lab's, else this checkout's]

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
modules=${TCP_REORDER_MODULES:-${LAB_MODULES:-}}
tracing=/sys/kernel/tracing
PORT=5001

# ---------------------------------------------------------------------------------------------------------------------
# TAP

planned=0 done_checks=0 failed_checks=0

# plan CHECKS: how many checks follow; must come first.
plan() {
	planned=$1
	echo "TAP version 13"
	echo "1..$1"
}

# skip_all REASON: end, with nothing tested.
skip_all() {
	[ "$planned" -gt 0 ] || echo "TAP version 13"
	[ "$planned" -gt 0 ] || echo "1..0 # SKIP $1"
	[ "$planned" -eq 0 ] || echo "Bail out! $1"
	planned=$done_checks
	exit 4
}

# check SENTENCE COMMAND…: one test point, passed if the command succeeds; what it prints explains a failure.
check() {
	local sentence=$1 output
	shift
	done_checks=$((done_checks + 1))
	if output=$("$@" 2>&1); then
		echo "ok $done_checks - $sentence"
		return
	fi
	failed_checks=$((failed_checks + 1))
	echo "not ok $done_checks - $sentence"
	printf '%s\n' "failed: $*" "$output" | sed '/^$/d; s/^/# /'
}

# skip SENTENCE REASON: a test point that cannot be tried here.
skip() {
	done_checks=$((done_checks + 1))
	echo "ok $done_checks - $1 # SKIP $2"
}

refute() {
	! "$@"
}

# is VALUE OP NUMBER: compare whole numbers, and tell them. OP: = -lt -gt -le -ge
is() {
	echo "it is '$1'"
	case ${1:-none}$2 in
	none*) false ;;
	*=) [ "$1" -eq "$3" ] ;;
	*-lt) [ "$1" -lt "$3" ] ;;
	*-gt) [ "$1" -gt "$3" ] ;;
	*-le) [ "$1" -le "$3" ] ;;
	*-ge) [ "$1" -ge "$3" ] ;;
	esac
}

# ---------------------------------------------------------------------------------------------------------------------
# Undoing

deferred=()

# defer COMMAND…: at the end, in reverse order.
defer() {
	deferred+=("$(printf '%q ' "$@")")
}

finish() {
	local status=$? i
	for ((i = ${#deferred[@]} - 1; i >= 0; i--)); do
		eval "${deferred[i]}" > /dev/null 2>&1
	done
	rm -rf "$tmp"
	[ "$status" -eq 4 ] && exit 4
	if [ "$done_checks" -ne "$planned" ]; then
		echo "Bail out! $done_checks of $planned checks were made (exit status $status)"
		exit 1
	fi
	exit $((failed_checks > 0))
}

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
tmp=$(mktemp -d)
trap finish EXIT
trap 'exit 1' INT TERM

# busywait TENTHS COMMAND…: until the command succeeds, at most that many tenths of a second.
busywait() {
	local tenths=$1
	shift
	until "$@" > /dev/null 2>&1; do
		[ "$tenths" -gt 0 ] || return
		tenths=$((tenths - 1))
		sleep 0.1
	done
}

# ---------------------------------------------------------------------------------------------------------------------
# Modules

loaded() {
	[ -d "/sys/module/$1" ]
}

load_one() {
	loaded "$1" && return
	modprobe -q "$1" && return
	local folder
	for folder in "$modules" "$here/../$1"; do
		[ -e "$folder/$1.ko" ] && insmod "$folder/$1.ko" && return
	done
	return 1
}

unload() {
	if loaded tcp_avgdev; then rmmod tcp_avgdev || return; fi
	if loaded tcp_reorder; then rmmod tcp_reorder || return; fi
}

# need_avgdev: load the modules, or skip the test on a kernel that they refuse.
need_avgdev() {
	load_one tcp_reorder || skip_all "tcp_reorder cannot be loaded"
	load_one tcp_avgdev || skip_all "tcp_avgdev cannot be loaded on $(uname -r)"
}

# param MODULE NAME [VALUE]: tell a parameter, or set it until the test ends.
param() {
	local file=/sys/module/$1/parameters/$2
	[ $# -gt 2 ] || {
		cat "$file"
		return
	}
	defer sh -c "echo $(cat "$file") > $file"
	echo "$3" > "$file"
}

# ---------------------------------------------------------------------------------------------------------------------
# Namespaces

snd='' mid='' rcv=''

# setup_ns NAME…: new network namespaces; $NAME holds the real name of each. They die with the test.
setup_ns() {
	local name
	for name; do
		printf -v "$name" '%s' "$name-$$"
		ip netns add "${!name}"
		defer ip netns del "${!name}"
		ip -n "${!name}" link set lo up
	done
}

# sysctl_in NAMESPACE KEY=VALUE…: below net.ipv4
sysctl_in() {
	local ns=$1 setting
	shift
	for setting; do
		ip netns exec "$ns" sysctl -qw "net.ipv4.$setting" || return
	done
}

# count NAMESPACE NAME: a counter of /proc/net/tcp_reorder
count() {
	ip netns exec "$1" sed -n "s/^$2 //p" /proc/net/tcp_reorder
}

# snmp NAMESPACE NAME: a counter of the kernel's own, such as TCPDSACKUndo
snmp() {
	# shellcheck disable=SC2016 # awk's own $
	ip netns exec "$1" awk -v name="$2" '
		$1 != seen { seen = $1; split($0, names); next }
		{ for (i in names) if (names[i] == name) print $i; seen = "" }' /proc/net/netstat /proc/net/snmp
}

# offload INTERFACE-COMMAND-PREFIX… on|off is done by the caller: offload NAMESPACE INTERFACE on|off
offload() {
	ip netns exec "$1" ethtool -K "$2" tso "$3" gso "$3" gro "$3" > /dev/null 2>&1
}

# setup_path: the path of the tests, 100 ms there and back, in order, until a packet is named late, lost or marked
#
#       snd                     mid                        rcv
#    .---------.           .-------------.   50 ms     .---------.
#    | sender  s - 1 ms -- a   forward   b ----------- r receiver|
#    |10.0.1.1 |   50 ms   |late/lost/CE | 50 ms + late|10.0.2.2 |
#    '---------' <-------- '-------------' <---------- '---------'
#
# The first window is 40 segments of 1000 bytes, one a millisecond, so that each has its own ACK; everything that would
# blur single packets is off: timestamps, tail loss probes, F-RTO, compressed SACKs, offloads.
setup_path() {
	for tool in ip tc nft ethtool python3; do
		command -v $tool > /dev/null || skip_all "$tool is not installed"
	done
	setup_ns snd mid rcv
	ip -n "$mid" link add name a type veth peer name s netns "$snd"
	ip -n "$mid" link add name b type veth peer name r netns "$rcv"
	ip -n "$snd" addr add 10.0.1.1/24 dev s
	ip -n "$snd" addr add fd00:1::1/64 dev s nodad
	ip -n "$mid" addr add 10.0.1.2/24 dev a
	ip -n "$mid" addr add fd00:1::2/64 dev a nodad
	ip -n "$mid" addr add 10.0.2.1/24 dev b
	ip -n "$mid" addr add fd00:2::1/64 dev b nodad
	ip -n "$rcv" addr add 10.0.2.2/24 dev r
	ip -n "$rcv" addr add fd00:2::2/64 dev r nodad
	local end ns
	for end in "$snd s" "$mid a" "$mid b" "$rcv r"; do
		# shellcheck disable=SC2086 # two words
		set -- $end
		ip -n "$1" link set dev "$2" up
		offload "$1" "$2" off
	done
	ip netns exec "$mid" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	route_to_receiver initcwnd 40
	ip -n "$rcv" route add default via 10.0.2.1 initrwnd 200 advmss 1000
	ip -n "$rcv" -6 route add default via fd00:2::1 initrwnd 200 advmss 1000
	for ns in "$snd" "$rcv"; do
		sysctl_in "$ns" tcp_timestamps=0 tcp_recovery=0 tcp_early_retrans=0 tcp_frto=0 tcp_comp_sack_nr=0 \
			tcp_no_metrics_save=1 tcp_ecn=0 tcp_rmem="4096 1000000 6000000" tcp_wmem="4096 1000000 4000000"
	done
	ip netns exec "$snd" tc qdisc add dev s root netem rate 8mbit limit 100000
	ip netns exec "$mid" tc qdisc add dev a root netem delay 50ms limit 100000
	ip netns exec "$mid" tc qdisc add dev b root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	ip netns exec "$mid" tc qdisc add dev b parent 1:1 handle 10: netem delay 50ms limit 100000
	ip netns exec "$mid" tc qdisc add dev b parent 1:2 handle 20: netem delay 50ms limit 100000
	ip netns exec "$mid" tc filter add dev b parent 1: protocol ip prio 1 handle 1 fw classid 1:2
	ip netns exec "$mid" tc filter add dev b parent 1: protocol ipv6 prio 2 handle 1 fw classid 1:2
}

# route_to_receiver OPTION…: the sender's route, such as `initcwnd 10` or `congctl avgdev`
route_to_receiver() {
	ip -n "$snd" route replace default via 10.0.1.2 "$@"
	ip -n "$snd" -6 route replace default via fd00:1::2 "$@"
}

# faults RULE…: what happens to the sender's data packets, which are counted from 0 from now on, retransmissions too. A
# RULE is `WHICH late MS`, `WHICH ce` or `WHICH lost`, in this order, each at most once; WHICH is `N…` or `every N`.
faults() {
	local rule action numbers modulus
	{
		echo "flush ruleset"
		echo "table inet faults {"
		echo "chain forward { type filter hook forward priority 0;"
		for rule; do
			# shellcheck disable=SC2086 # words
			set -- $rule
			numbers='' modulus=1000000
			if [ "$1" = every ]; then
				modulus=$2 numbers=$(($2 - 1))
				shift 2
			fi
			while [[ $1 =~ ^[0-9]+$ ]]; do
				numbers=${numbers:+$numbers, }$1
				shift
			done
			case $1 in
			late)
				action="meta mark set 1"
				ip netns exec "$mid" tc qdisc change dev b parent 1:2 handle 20: netem \
					delay "$((50 + $2))ms" limit 100000
				;;
			ce) action="ip ecn set ce" ;;
			lost) action="drop" ;;
			esac
			echo "iifname a meta length > 500 numgen inc mod $modulus { $numbers } $action"
		done
		echo "}"
		echo "}"
	} | ip netns exec "$mid" nft -f -
}

# ---------------------------------------------------------------------------------------------------------------------
# Traffic and what is seen of it

# receive [OPTION…]: start a receiver in the background, in place of the one before; see flow.py --help
receiver=
receive() {
	if [ "$receiver" ]; then
		busywait 50 refute kill -0 "$receiver" || kill "$receiver"
		wait "$receiver" 2> /dev/null
	fi
	ip netns exec "$rcv" timeout 300 "$here/flow.py" receive "$PORT" "$@" > "$tmp/received" &
	receiver=$!
	defer kill $receiver
	busywait 50 listening
}

listening() {
	ip netns exec "$rcv" ss -tlnH "sport = :$PORT" | grep -q .
}

# send STEP…: run a connection, or $TIMES, from the sender to $TO and keep what is told in $tmp/sent; see flow.py --help
send() {
	ip netns exec "$snd" timeout 300 "$here/flow.py" send --times "${TIMES:-1}" "${TO:-10.0.2.2}" "$PORT" "$@" > "$tmp/sent"
}

# told LABEL NAME: a value of the line that step info:LABEL printed
told() {
	sed -n "s/^$1 .*\\b$2=\\([^ ]*\\).*/\\1/p" "$tmp/sent"
}

# received BYTES: the receiver gets that much in all, within ten seconds
received() {
	busywait 100 grep -qx "$1 bytes" "$tmp/received" || cat "$tmp/received" "$tmp/sent"
	grep -qx "$1 bytes" "$tmp/received"
}

# trace EVENT…: record these events of the engine from now on
trace() {
	[ -d "$tracing/events/tcp_reorder" ] || skip_all "no tracefs at $tracing"
	local event
	for event; do
		defer sh -c "echo 0 > $tracing/events/tcp_reorder/$event/enable"
		echo 1 > "$tracing/events/tcp_reorder/$event/enable"
	done
	: > "$tracing/trace"
}

# traced EVENT FIELD: the values of a field, oldest first
traced() {
	sed -n "s/.* $1: .*\\b$2=\\([0-9]*\\).*/\\1/p" "$tracing/trace"
}
