/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_reorder.h - what the engine offers to an algorithm
 *
 * An algorithm is a struct tcp_reorder_ops (what to do on an event), one
 * number (the threshold, tcp_reorder_set_threshold()) and a struct
 * tcp_congestion_ops whose hooks are the engine's tcp_reorder_*() functions.
 * Its per-socket state starts with a struct tcp_reorder and lives in
 * icsk_ca_priv (104 bytes in all).
 */
#ifndef _TCP_REORDER_H
#define _TCP_REORDER_H

#include <linux/moduleparam.h>
#include <linux/types.h>
#include <net/tcp.h>

struct tcp_reorder_board;

#define TCP_REORDER_STD_THRESHOLD	3	/* segments, RFC 5681 */

/**
 * struct tcp_reorder_sample - one reordering event
 * @seq: first byte of the segment that came late
 * @length: reordering length N, segments: how many sent after it had been
 *          reported before it was; 1 to 65535
 * @prior_cwnd: window before the fast retransmit that the event proved false,
 *          segments; 0 if there was none
 */
struct tcp_reorder_sample {
	u32 seq;
	u32 length;
	u32 prior_cwnd;
};

/**
 * struct tcp_reorder_ops - an algorithm's answers to the engine's events
 * @hole_filled: the original of a never retransmitted segment filled its hole
 * @false_fr: a DSACK proved a fast retransmission unnecessary.  The length is
 *          the mean over the two copies (RR-TCP section 3), or that of the
 *          first if the connection asked for it
 * @timeout: first retransmission timeout of a segment, in which enum
 *          tcp_ca_state it struck
 * @disorder: the first duplicate ACK of an episode, before any clamp of the
 *          window
 * @recovery: a fast retransmit begins; ssthresh is the window from now on
 *
 * All are optional, run under the socket lock and may call
 * tcp_reorder_set_threshold().
 */
struct tcp_reorder_ops {
	void (*hole_filled)(struct sock *sk,
			    const struct tcp_reorder_sample *sample);
	void (*false_fr)(struct sock *sk,
			 const struct tcp_reorder_sample *sample);
	void (*timeout)(struct sock *sk, u8 state);
	void (*disorder)(struct sock *sk);
	void (*recovery)(struct sock *sk);
};

/* How many new segments may leave while dupACKs arrive. */
enum tcp_reorder_limited_transmit {
	TCP_REORDER_LT_KERNEL,	/* one for every SACKed segment */
	TCP_REORDER_LT_HALF,	/* two, then one for every second */
};

/* What the threshold is compared with. */
enum tcp_reorder_count {
	TCP_REORDER_COUNT_DUPACKS,	/* since SND.UNA last advanced (ns-2) */
	TCP_REORDER_COUNT_SACKED,	/* segments SACKed above the hole */
};

/* How the window comes back after a false fast retransmit. */
enum tcp_reorder_undo {
	TCP_REORDER_UNDO_SLOW_START,	/* ssthresh = the old window */
	TCP_REORDER_UNDO_AT_ONCE,	/* cwnd = the old window */
};

/* What a false fast retransmit's length is. */
enum tcp_reorder_length {
	TCP_REORDER_LENGTH_MEAN,	/* mean over both copies */
	TCP_REORDER_LENGTH_FIRST,	/* when the hole was first filled */
};

/**
 * struct tcp_reorder_style - how one connection behaves, fixed at its start
 * @limited_transmit: enum tcp_reorder_limited_transmit
 * @count: enum tcp_reorder_count
 * @undo: enum tcp_reorder_undo
 * @length: enum tcp_reorder_length
 */
struct tcp_reorder_style {
	u8 limited_transmit;
	u8 count;
	u8 undo;
	u8 length;
};

/**
 * struct tcp_reorder - the engine's state of one connection
 * @board: holes and pending proofs; allocated at the first SACK
 * @ops: the algorithm
 * @threshold: segments that must be SACKed above a hole before it counts as
 *          lost (D_eff), at least 3
 * @dupacks: k, duplicate ACKs with new SACK data since SND.UNA advanced
 * @lt_cwnd: window when limited transmit began, segments; 0 = not active
 * @lt_sent: packets_out when limited transmit began
 * @prior_cwnd: window before the latest reduction, segments
 * @una: SND.UNA at the previous ACK
 * @una_us: when SND.UNA last advanced, us
 * @delivered: tp->delivered at the previous ACK
 * @dsacks: tp->dsack_dups at the previous ACK
 * @retrans: tp->total_retrans at the previous ACK
 * @patience_pm: part of the RTO, in thousandths, that the lowest hole may wait
 *          for the threshold; after that one SACKed segment is enough; 0 = as
 *          long as it takes
 * @style: how this connection behaves
 */
struct tcp_reorder {
	struct tcp_reorder_board *board;
	const struct tcp_reorder_ops *ops;
	u32 threshold;
	u32 dupacks;
	u32 lt_cwnd;
	u32 lt_sent;
	u32 prior_cwnd;
	u32 una;
	u32 una_us;
	u32 delivered;
	u32 dsacks;
	u32 retrans;
	u16 patience_pm;
	struct tcp_reorder_style style;
};

static inline struct tcp_reorder *tcp_reorder_sk(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* Called by an algorithm. */
int tcp_reorder_register(struct tcp_congestion_ops *ca);
void tcp_reorder_init(struct sock *sk, const struct tcp_reorder_ops *ops,
		      struct tcp_reorder_style style);
void tcp_reorder_set_threshold(struct sock *sk, u32 segments);
u32 tcp_reorder_window(const struct sock *sk);
bool tcp_reorder_dsack_missing(const struct sock *sk);

/* Hooks of struct tcp_congestion_ops, used as they are. */
void tcp_reorder_release(struct sock *sk);
u32 tcp_reorder_ssthresh(struct sock *sk);
void tcp_reorder_cong_avoid(struct sock *sk, u32 ack, u32 acked);
void tcp_reorder_set_state(struct sock *sk, u8 new_state);
void tcp_reorder_pkts_acked(struct sock *sk, const struct ack_sample *sample);
u32 tcp_reorder_undo_cwnd(struct sock *sk);

/**
 * struct tcp_reorder_range - an integer module parameter that checks itself,
 *	for module_param_cb() with tcp_reorder_range_ops; read with READ_ONCE()
 * @value: the value
 * @min: smallest value accepted
 * @max: largest value accepted
 */
struct tcp_reorder_range {
	int value;
	int min;
	int max;
};

extern const struct kernel_param_ops tcp_reorder_range_ops;

/**
 * struct tcp_reorder_choice - a module parameter that is one word of a list,
 *	for module_param_cb() with tcp_reorder_choice_ops
 * @value: index of the word
 * @words: the list
 * @count: its length
 */
struct tcp_reorder_choice {
	int value;
	const char *const *words;
	size_t count;
};

extern const struct kernel_param_ops tcp_reorder_choice_ops;

#endif /* _TCP_REORDER_H */
