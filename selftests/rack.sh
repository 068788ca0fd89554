#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With tcp_recovery=1 RACK decides, and the kernel log says so once for a network namespace
. "$(dirname "$0")/lib.sh"

plan 6
need_avgdev
setup_path
one='' two=''
setup_ns one two

notices() {
	dmesg | grep -c "RACK is in charge"
}

connect_in() {
	rcv=$1
	receive
	snd=$1 TO=127.0.0.1 send cc:avgdev data:1 acked
}

before=$(notices)
sysctl_in "$one" tcp_recovery=0
connect_in "$one"
check "tcp_recovery=0: nothing is said" is "$(notices)" = "$before"
sysctl_in "$one" tcp_recovery=1
connect_in "$one"
check "tcp_recovery=1: it is said" is "$(notices)" = $((before + 1))
connect_in "$one"
check "not twice" is "$(notices)" = $((before + 1))
sysctl_in "$two" tcp_recovery=1
connect_in "$two"
check "once more in another namespace" is "$(notices)" = $((before + 2))
check "with what to do about it" sh -c 'dmesg | grep "RACK is in charge" | grep -q net.ipv4.tcp_recovery=0'
connect_in "$two"
check "and the connection works" received 1000
