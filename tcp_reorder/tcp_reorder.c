// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_reorder - from ACKs to reordering events, and from a threshold to losses
 *
 * Model
 * -----
 * The kernel's RFC 6675 code takes a hole for lost when tp->reordering
 * segments have been SACKed above it.  This engine owns that number for the
 * sockets of its algorithms and tells them what happens to their holes:
 *
 *               SACK above SND.UNA
 *      (none) ----------------------> hole
 *                                    /    \  threshold reached:
 *             filled by the original/      \ fast retransmit
 *                                  v        v
 *             ops->hole_filled(N)        hole, retransmitted
 *                                           |  first copy arrives: N1
 *                                           v
 *                                        record
 *                         DSACK: N2       /   \   no DSACK within two round
 *                                        v     \  trips: it was a real loss
 *             ops->false_fr((N1 + N2) / 2)      v
 *                                             (forgotten)
 *
 * The reordering length of segment p is N(p) = H - p, H the highest segment
 * ACKed or SACKed before the ACK that first covers p.  The kernel's own metric
 * counts p as well and is N + 1.
 *
 * What a stock kernel shows, and how it is used
 * ---------------------------------------------
 * No hook passes the ACK itself.  pkts_acked() is called on every ACK between
 * the scoreboard update and the loss decision, so all work is done there:
 *
 *  - holes: from the SACK blocks the kernel keeps in tp->recv_sack_cache and
 *    from SND.UNA, kept in a table of our own (holes.h) because the kernel's
 *    scoreboard is already updated when we see it;
 *  - which holes were retransmitted: tp->total_retrans says how many, and the
 *    kernel retransmits lost segments in order from the lowest;
 *  - DSACKs: tp->dsack_dups says how many.  The duplicates arrive about in the
 *    order of the retransmissions, so the oldest record is the one proven.
 *
 * The last two are inferences.  They are exact with one retransmission at a
 * time, and with several they can swap the lengths of neighbours.
 *
 * Limits
 * ------
 * Memory from the network is bounded: at most max_holes holes and
 * TCP_REORDER_RECORDS records for a connection, none before its first SACK.
 * What does not fit is not sampled, and counted.
 *
 * Without SACK there is nothing to measure: the threshold is 3.
 *
 * /proc/net/tcp_reorder has the counters of a network namespace.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "compat.h"
#include "holes.h"
#include "tcp_reorder.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Pending proofs of a connection; the oldest gives way. */
#define TCP_REORDER_RECORDS	16
/* Entries of the first table; it doubles up to max_holes. */
#define TCP_REORDER_FIRST_HOLES	16
/* Retransmissions without any DSACK after which none is expected any more. */
#define TCP_REORDER_DSACK_TRIALS	8
/* sysctl net.ipv4.tcp_recovery, bit 0: RACK decides what is lost. */
#define TCP_REORDER_RACK	0x1

static struct tcp_reorder_range max_holes = { 512, 16, 4096 };
module_param_cb(max_holes, &tcp_reorder_range_ops, &max_holes, 0644);
MODULE_PARM_DESC(max_holes, "holes tracked for a connection, 12 bytes each, 16 to 4096, default 512");

/**
 * struct tcp_reorder_record - a retransmitted segment that has arrived once
 * @start: its first byte
 * @rtx_ms: when it was retransmitted, ms
 * @length: N1, its reordering length when it was first covered, segments
 * @prior_cwnd: window before its fast retransmit, segments
 */
struct tcp_reorder_record {
	u32 start;
	u32 rtx_ms;
	u32 length;
	u32 prior_cwnd;
};

/**
 * struct tcp_reorder_board - what is known of a connection's holes
 * @fack: end of the highest byte ACKed or SACKed so far
 * @untracked_end: end of the highest hole that found no room
 * @has_untracked: a hole below @untracked_end may be missing from the table
 * @expired: retransmissions no DSACK came for
 * @n_records: live records
 * @records: oldest first
 * @holes: the table
 */
struct tcp_reorder_board {
	u32 fack;
	u32 untracked_end;
	bool has_untracked;
	u8 expired;
	u8 n_records;
	struct tcp_reorder_record records[TCP_REORDER_RECORDS];
	struct tcp_reorder_holes holes;
};

/* Counters of a network namespace, in the order of tcp_reorder_names. */
enum tcp_reorder_counter {
	TCP_REORDER_CONNECTIONS,
	TCP_REORDER_HOLES_FILLED,
	TCP_REORDER_FALSE_FRS,
	TCP_REORDER_REAL_LOSSES,
	TCP_REORDER_RAISED,
	TCP_REORDER_LOWERED,
	TCP_REORDER_TIMEOUTS,
	TCP_REORDER_UNDONE,
	TCP_REORDER_UNTRACKED,
	TCP_REORDER_NO_MEMORY,
	TCP_REORDER_COUNTERS
};

static const char *const tcp_reorder_names[TCP_REORDER_COUNTERS] = {
	[TCP_REORDER_CONNECTIONS] = "connections",
	[TCP_REORDER_HOLES_FILLED] = "holes_filled_by_original",
	[TCP_REORDER_FALSE_FRS] = "false_fast_retransmits",
	[TCP_REORDER_REAL_LOSSES] = "retransmits_without_dsack",
	[TCP_REORDER_RAISED] = "threshold_raised",
	[TCP_REORDER_LOWERED] = "threshold_lowered",
	[TCP_REORDER_TIMEOUTS] = "timeouts",
	[TCP_REORDER_UNDONE] = "reductions_undone",
	[TCP_REORDER_UNTRACKED] = "holes_untracked",
	[TCP_REORDER_NO_MEMORY] = "allocations_failed",
};

struct tcp_reorder_counts {
	unsigned long at[TCP_REORDER_COUNTERS];
};

/**
 * struct tcp_reorder_net - the engine's state of a network namespace
 * @counts: counters, one set a CPU
 * @told_rack: the note about tcp_recovery has been printed
 */
struct tcp_reorder_net {
	struct tcp_reorder_counts __percpu *counts;
	atomic_t told_rack;
};

static unsigned int tcp_reorder_net_id __read_mostly;

static struct tcp_reorder_net *tcp_reorder_pernet(const struct sock *sk)
{
	return net_generic(sock_net(sk), tcp_reorder_net_id);
}

static void tcp_reorder_count(const struct sock *sk,
			      enum tcp_reorder_counter counter)
{
	/* The kernel's own sockets can outlive their namespace. */
	if (check_net(sock_net(sk)))
		this_cpu_inc(tcp_reorder_pernet(sk)->counts->at[counter]);
}

/* Milliseconds for ages; 0 is reserved for "never". */
static u32 tcp_reorder_now_ms(const struct tcp_sock *tp)
{
	return (u32)div_u64(tp->tcp_mstamp, USEC_PER_MSEC) | 1;
}

/* Segments from @seq to @end, the last one counted if it is short. */
static u32 tcp_reorder_segments(const struct tcp_sock *tp, u32 seq, u32 end)
{
	return DIV_ROUND_UP(end - seq, max(tp->mss_cache, 1U));
}

/* N(p) with H the end of the highest segment reported; at least 1. */
static u32 tcp_reorder_length(const struct tcp_sock *tp, u32 seq, u32 end)
{
	u32 n = tcp_reorder_segments(tp, seq, end);

	return clamp(n, 2U, U16_MAX + 1U) - 1;
}

/* ------------------------------------------------------------------------
 * The board
 */

static bool tcp_reorder_make_board(struct sock *sk, struct tcp_reorder *tr)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_reorder_board *board;

	board = kzalloc(sizeof(*board), GFP_ATOMIC | __GFP_NOWARN);
	if (!board) {
		tcp_reorder_count(sk, TCP_REORDER_NO_MEMORY);
		return false;
	}
	board->fack = tp->snd_una;
	tr->board = board;
	return true;
}

/* Room for one more hole: true, or false at max_holes or without memory. */
static bool tcp_reorder_room(struct sock *sk, struct tcp_reorder_holes *t)
{
	u32 limit = READ_ONCE(max_holes.value);
	struct tcp_reorder_hole *at;
	u32 capacity;

	if (t->count < t->capacity)
		return true;
	if (t->capacity >= limit)
		return false;
	capacity = max_t(u32, t->capacity * 2, TCP_REORDER_FIRST_HOLES);
	capacity = min(capacity, limit);
	at = krealloc_array(t->at, capacity, sizeof(*at),
			    GFP_ATOMIC | __GFP_NOWARN);
	if (!at) {
		tcp_reorder_count(sk, TCP_REORDER_NO_MEMORY);
		return false;
	}
	t->at = at;
	t->capacity = capacity;
	return true;
}

/* From now on a hole below @end may be missing from the table. */
static void tcp_reorder_set_untracked(struct tcp_reorder_board *board, u32 end)
{
	board->untracked_end = end;
	board->has_untracked = true;
}

static void tcp_reorder_add_hole(struct sock *sk,
				 struct tcp_reorder_board *board, u32 start,
				 u32 end)
{
	struct tcp_reorder_hole hole = { .start = start, .end = end };

	if (tcp_reorder_room(sk, &board->holes) &&
	    tcp_reorder_holes_insert(&board->holes, board->holes.count, hole))
		return;
	tcp_reorder_count(sk, TCP_REORDER_UNTRACKED);
	tcp_reorder_set_untracked(board, end);
}

/* Forget the holes: after an RTO everything outstanding is sent again. */
static void tcp_reorder_flush(struct sock *sk, struct tcp_reorder *tr)
{
	struct tcp_reorder_board *board = tr->board;

	tr->retrans = tcp_sk(sk)->total_retrans;
	if (!board)
		return;
	board->holes.first = 0;
	board->holes.count = 0;
	board->n_records = 0;
	board->fack = tcp_sk(sk)->snd_nxt;
	board->has_untracked = false;
}

/*
 * Mark the holes that were retransmitted since the previous ACK: @segments of
 * them, lowest first, which is the order the kernel sends them in.  With holes
 * missing from the table only the one at SND.UNA is certain.
 */
static void tcp_reorder_mark_retransmitted(struct sock *sk,
					   struct tcp_reorder *tr, u32 segments)
{
	struct tcp_reorder_board *board = tr->board;
	struct tcp_reorder_holes *t = &board->holes;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 mss = max(tp->mss_cache, 1U);
	u32 i;

	for (i = 0; i < t->count && segments; i++) {
		struct tcp_reorder_hole *h = tcp_reorder_holes_get(t, i);
		u32 length = tcp_reorder_segments(tp, h->start, h->end);

		if (h->rtx_ms)
			continue;
		if (board->has_untracked && h->start != tr->una)
			return;
		if (length > segments) {
			struct tcp_reorder_hole above = *h;

			above.start = h->start + segments * mss;
			if (tcp_reorder_room(sk, t) &&
			    tcp_reorder_holes_insert(t, i + 1, above)) {
				h = tcp_reorder_holes_get(t, i);
				h->end = above.start;
			}
			length = segments;
		}
		h->rtx_ms = tcp_reorder_now_ms(tp);
		segments -= length;
	}
}

static void tcp_reorder_drop_oldest_record(struct tcp_reorder_board *board)
{
	board->n_records--;
	memmove(board->records, board->records + 1,
		board->n_records * sizeof(board->records[0]));
}

static void tcp_reorder_add_record(struct tcp_reorder_board *board,
				   struct tcp_reorder_record record)
{
	if (board->n_records == TCP_REORDER_RECORDS)
		tcp_reorder_drop_oldest_record(board);
	board->records[board->n_records++] = record;
}

/* [start, end) has been ACKed or SACKed: what does that fill? */
static void tcp_reorder_fill(struct sock *sk, struct tcp_reorder *tr, u32 start,
			     u32 end)
{
	struct tcp_reorder_board *board = tr->board;
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_reorder_hole filled;

	/* A fill in the middle makes one hole two. */
	if (!tcp_reorder_room(sk, &board->holes))
		tcp_reorder_set_untracked(board, board->fack);

	while (tcp_reorder_holes_fill(&board->holes, start, end, &filled)) {
		u32 length = tcp_reorder_length(tp, filled.start, board->fack);

		if (filled.rtx_ms) {
			struct tcp_reorder_record record = {
				.start = filled.start,
				.rtx_ms = filled.rtx_ms,
				.length = length,
				.prior_cwnd = tr->prior_cwnd,
			};

			tcp_reorder_add_record(board, record);
		} else {
			struct tcp_reorder_sample sample = {
				.seq = filled.start,
				.length = length,
			};

			tcp_reorder_count(sk, TCP_REORDER_HOLES_FILLED);
			trace_tcp_reorder_sample(sk, filled.start, length,
						 false);
			if (tr->ops->hole_filled)
				tr->ops->hole_filled(sk, &sample);
		}
	}
}

/* Holes between the blocks above the highest byte SACKed before. */
static void tcp_reorder_read_sacks(struct sock *sk, struct tcp_reorder *tr)
{
	struct tcp_reorder_board *board = tr->board;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 high = board->fack;
	int i;

	for (i = 0; i < ARRAY_SIZE(tp->recv_sack_cache); i++) {
		u32 start = tp->recv_sack_cache[i].start_seq;
		u32 end = tp->recv_sack_cache[i].end_seq;

		/* Unused entries are zero; the others are sorted. */
		if (start == end || !after(end, tp->snd_una) ||
		    after(end, tp->snd_nxt))
			continue;
		tcp_reorder_fill(sk, tr, start, end);
		if (!after(end, high))
			continue;
		if (after(start, high))
			tcp_reorder_add_hole(sk, board, high, start);
		high = end;
	}
	board->fack = high;
}

/* @duplicates DSACKed segments: the oldest records were sent for nothing. */
static void tcp_reorder_read_dsacks(struct sock *sk, struct tcp_reorder *tr,
				    u32 highest, u32 duplicates)
{
	struct tcp_reorder_board *board = tr->board;
	const struct tcp_sock *tp = tcp_sk(sk);

	for (; duplicates && board->n_records; duplicates--) {
		struct tcp_reorder_record r = board->records[0];
		struct tcp_reorder_sample sample = {
			.seq = r.start,
			.length = r.length,
			.prior_cwnd = r.prior_cwnd,
		};

		tcp_reorder_drop_oldest_record(board);
		if (tr->style.length == TCP_REORDER_LENGTH_MEAN)
			sample.length = (r.length +
				tcp_reorder_length(tp, r.start, highest)) / 2;
		tcp_reorder_count(sk, TCP_REORDER_FALSE_FRS);
		trace_tcp_reorder_sample(sk, r.start, sample.length, true);
		if (tr->ops->false_fr)
			tr->ops->false_fr(sk, &sample);
	}
}

/* No DSACK within two round trips: the retransmission was needed. */
static void tcp_reorder_expire_records(struct sock *sk, struct tcp_reorder *tr)
{
	struct tcp_reorder_board *board = tr->board;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 now_ms = tcp_reorder_now_ms(tp);
	/* srtt_us is the round trip time shifted left by 3 */
	u32 limit_ms = 2 * (tp->srtt_us >> 3) / USEC_PER_MSEC + 1;

	while (board->n_records &&
	       now_ms - board->records[0].rtx_ms > limit_ms) {
		tcp_reorder_drop_oldest_record(board);
		if (board->expired < TCP_REORDER_DSACK_TRIALS)
			board->expired++;
		tcp_reorder_count(sk, TCP_REORDER_REAL_LOSSES);
	}
}

static void tcp_reorder_update_board(struct sock *sk, struct tcp_reorder *tr)
{
	struct tcp_reorder_board *board = tr->board;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 retransmitted = tp->total_retrans - tr->retrans;
	u32 duplicates = tp->dsack_dups - tr->dsacks;
	u32 highest = board->fack;

	if (retransmitted && inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery)
		tcp_reorder_mark_retransmitted(sk, tr, retransmitted);

	if (after(tp->snd_una, tr->una))
		tcp_reorder_fill(sk, tr, tr->una, tp->snd_una);
	if (before(board->fack, tp->snd_una))
		board->fack = tp->snd_una;
	if (tp->sacked_out)
		tcp_reorder_read_sacks(sk, tr);
	if (board->has_untracked && !before(tp->snd_una, board->untracked_end))
		board->has_untracked = false;

	/* A tail loss probe was no fast retransmit. */
	if (tp->tlp_high_seq && tp->tlp_retrans)
		duplicates = 0;
	/* More duplicates than retransmissions: the network made copies. */
	if (duplicates && tp->dsack_dups <= tp->total_retrans)
		tcp_reorder_read_dsacks(sk, tr, highest, duplicates);
	if (board->n_records)
		tcp_reorder_expire_records(sk, tr);
}

/* ------------------------------------------------------------------------
 * Limited transmit
 */

/* New segments permitted while k dupACKs have arrived: 1, 2, 2, 3, 3, 4, ... */
static u32 tcp_reorder_lt_allowance(u32 dupacks)
{
	return dupacks < 2 ? dupacks : 2 + (dupacks - 2) / 2;
}

/* A dupACK in Disorder: let the window admit what L(k) permits. */
static void tcp_reorder_lt_clamp(struct tcp_sock *tp, struct tcp_reorder *tr)
{
	u32 allowed = tcp_reorder_lt_allowance(tr->dupacks);
	u32 sent, cwnd;

	if (tr->style.limited_transmit != TCP_REORDER_LT_HALF || !tr->dupacks)
		return;
	if (!tr->lt_cwnd) {
		tr->lt_cwnd = tcp_snd_cwnd(tp);
		tr->lt_sent = tp->packets_out;
	}
	sent = tp->packets_out - min(tp->packets_out, tr->lt_sent);
	cwnd = tcp_packets_in_flight(tp) + allowed - min(allowed, sent);
	tcp_snd_cwnd_set(tp, clamp(cwnd, 1U, tr->lt_cwnd));
}

static void tcp_reorder_lt_end(struct tcp_sock *tp, struct tcp_reorder *tr)
{
	if (!tr->lt_cwnd)
		return;
	tcp_snd_cwnd_set(tp, tr->lt_cwnd);
	tr->lt_cwnd = 0;
}

/* ------------------------------------------------------------------------
 * The threshold
 */

/* The threshold as the kernel itself could have set it. */
static u32 tcp_reorder_rest(const struct sock *sk, const struct tcp_reorder *tr)
{
	return min_t(u32, tr->threshold,
		     READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_max_reordering));
}

/*
 * Has the lowest hole waited so long that its timer will not leave time for
 * the threshold to be reached?  A retransmission now is cheaper than an RTO.
 * The timer started when SND.UNA advanced or the lowest segment was sent.
 */
static bool tcp_reorder_out_of_time(const struct sock *sk,
				    const struct tcp_reorder *tr)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct sk_buff *head = tcp_rtx_queue_head(sk);
	u32 now_us = tp->tcp_mstamp;
	u32 waited_us;
	u64 rto_us;

	if (!tr->patience_pm || !tp->sacked_out || !head)
		return false;
	waited_us = min(now_us - tr->una_us,
			now_us - (u32)tcp_skb_timestamp_us(head));
	/* srtt_us is shifted left by 3; the sum is the timer without backoff */
	rto_us = (tp->srtt_us >> 3) + tp->rttvar_us;
	return (u64)waited_us * 1000 >= rto_us * tr->patience_pm;
}

/*
 * Hand the threshold to the kernel, which takes the lowest hole for lost when
 * sacked_out + 1 > tp->reordering, and in a recovery every hole that has as
 * many SACKed above it.  @state is the state it will decide in; @newly, whether
 * this ACK has SACKed anything new.
 */
static void tcp_reorder_apply(struct sock *sk, struct tcp_reorder *tr,
			      u8 state, bool newly)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 threshold = tr->threshold;

	if (tr->style.count == TCP_REORDER_COUNT_DUPACKS &&
	    state < TCP_CA_Recovery) {
		if (tr->dupacks >= threshold)
			threshold = min(threshold, tp->sacked_out);
		else
			threshold += tp->sacked_out - tr->dupacks;
	}
	if (newly && tcp_reorder_out_of_time(sk, tr))
		threshold = min(threshold, tp->sacked_out);
	/* At rest it is what the route's metrics may remember. */
	if (!tp->packets_out)
		threshold = tcp_reorder_rest(sk, tr);
	if (tp->reordering != threshold)
		WRITE_ONCE(tp->reordering, threshold);
}

/**
 * tcp_reorder_set_threshold() - when does a hole count as lost?
 * @sk: socket of a registered algorithm
 * @segments: that many SACKed above it (D_eff); below 3 counts as 3
 *
 * Not bounded by net.ipv4.tcp_max_reordering.  Takes effect with the next loss
 * decision: the ACK being processed, or, from ops->recovery, the one after it.
 */
void tcp_reorder_set_threshold(struct sock *sk, u32 segments)
{
	struct tcp_reorder *tr = tcp_reorder_sk(sk);

	segments = max_t(u32, segments, TCP_REORDER_STD_THRESHOLD);
	if (segments != tr->threshold) {
		tcp_reorder_count(sk, segments > tr->threshold ?
				  TCP_REORDER_RAISED : TCP_REORDER_LOWERED);
		trace_tcp_reorder_threshold(sk, tr->threshold, segments);
		tr->threshold = segments;
	}
}
EXPORT_SYMBOL_GPL(tcp_reorder_set_threshold);

/**
 * tcp_reorder_window() - the window that duplicate ACKs come from
 * @sk: socket of a registered algorithm
 *
 * Return: segments: cwnd, not as limited transmit clamps it, and not below what
 * slow start is getting back to after an undo.
 */
u32 tcp_reorder_window(const struct sock *sk)
{
	const struct tcp_reorder *tr = tcp_reorder_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = max(tcp_snd_cwnd(tp), tr->lt_cwnd);

	if (cwnd < tp->snd_ssthresh)
		cwnd = max(cwnd, min(tp->snd_ssthresh, tr->prior_cwnd));
	return cwnd;
}
EXPORT_SYMBOL_GPL(tcp_reorder_window);

/**
 * tcp_reorder_dsack_missing() - does the peer send no DSACKs?
 * @sk: socket of a registered algorithm
 *
 * Return: true after 8 retransmissions and not one DSACK.
 */
bool tcp_reorder_dsack_missing(const struct sock *sk)
{
	const struct tcp_reorder_board *board = tcp_reorder_sk(sk)->board;

	return board && board->expired >= TCP_REORDER_DSACK_TRIALS &&
	       !(tcp_sk(sk)->rx_opt.sack_ok & TCP_DSACK_SEEN);
}
EXPORT_SYMBOL_GPL(tcp_reorder_dsack_missing);

/* ------------------------------------------------------------------------
 * Hooks of struct tcp_congestion_ops
 */

static void tcp_reorder_tell_rack(const struct sock *sk)
{
	struct tcp_reorder_net *rn = tcp_reorder_pernet(sk);

	if (!(READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_recovery) &
	      TCP_REORDER_RACK) || atomic_xchg(&rn->told_rack, 1))
		return;
	pr_notice_ratelimited("RACK is in charge of loss detection, so the threshold has no effect: set net.ipv4.tcp_recovery=0\n");
}

/**
 * tcp_reorder_init() - a connection starts to use an algorithm
 * @sk: socket
 * @ops: the algorithm
 * @style: how the connection is to behave
 */
void tcp_reorder_init(struct sock *sk, const struct tcp_reorder_ops *ops,
		      struct tcp_reorder_style style)
{
	struct tcp_reorder *tr = tcp_reorder_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	*tr = (struct tcp_reorder) {
		.ops = ops,
		.style = style,
		.threshold = TCP_REORDER_STD_THRESHOLD,
		.una = tp->snd_una,
		.una_us = tp->tcp_mstamp,
		.delivered = tp->delivered,
		.dsacks = tp->dsack_dups,
		.retrans = tp->total_retrans,
	};
	/* What is SACKed already is no news: start above it. */
	if (tp->sacked_out && tcp_reorder_make_board(sk, tr))
		tr->board->fack = tp->snd_nxt;
	tcp_reorder_count(sk, TCP_REORDER_CONNECTIONS);
	tcp_reorder_tell_rack(sk);
	tcp_reorder_apply(sk, tr, inet_csk(sk)->icsk_ca_state, false);
}
EXPORT_SYMBOL_GPL(tcp_reorder_init);

/**
 * tcp_reorder_release() - a connection ends, or changes its algorithm
 * @sk: socket
 */
void tcp_reorder_release(struct sock *sk)
{
	struct tcp_reorder *tr = tcp_reorder_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/* Never initialised; MPTCP sockets, which are no TCP, come here so. */
	if (!tr->ops)
		return;
	tcp_reorder_lt_end(tp, tr);
	WRITE_ONCE(tp->reordering, tcp_reorder_rest(sk, tr));
	if (tr->board) {
		kfree(tr->board->holes.at);
		kfree(tr->board);
		tr->board = NULL;
	}
}
EXPORT_SYMBOL_GPL(tcp_reorder_release);

/**
 * tcp_reorder_ssthresh() - a reduction begins: half the window, at least 2
 * @sk: socket
 *
 * Return: the slow start threshold, segments (RFC 5681, equation 4).
 */
u32 tcp_reorder_ssthresh(struct sock *sk)
{
	struct tcp_reorder *tr = tcp_reorder_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (tr->lt_cwnd) {
		/* The kernel has just saved the clamped window. */
		tcp_reorder_lt_end(tp, tr);
		tp->prior_cwnd = tcp_snd_cwnd(tp);
	}
	tr->prior_cwnd = tcp_snd_cwnd(tp);
	return tcp_reno_ssthresh(sk);
}
EXPORT_SYMBOL_GPL(tcp_reorder_ssthresh);

/**
 * tcp_reorder_cong_avoid() - Reno's growth, but not while the window is clamped
 * @sk: socket
 * @ack: sequence number acknowledged
 * @acked: segments newly acknowledged
 */
void tcp_reorder_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	if (!tcp_reorder_sk(sk)->lt_cwnd)
		tcp_reno_cong_avoid(sk, ack, acked);
}
EXPORT_SYMBOL_GPL(tcp_reorder_cong_avoid);

/*
 * The Loss state begins.  tcp_simple_retransmit() gets here as well, when the
 * path's MTU has shrunk; it leaves no undo marker.
 */
static void tcp_reorder_loss(struct sock *sk, struct tcp_reorder *tr)
{
	u8 state = inet_csk(sk)->icsk_ca_state;

	tcp_reorder_flush(sk, tr);
	if (inet_csk(sk)->icsk_retransmits ||
	    !(tcp_sk(sk)->undo_marker || state == TCP_CA_CWR))
		return;
	tcp_reorder_count(sk, TCP_REORDER_TIMEOUTS);
	if (tr->ops->timeout)
		tr->ops->timeout(sk, state);
}

/**
 * tcp_reorder_set_state() - the kernel's loss state machine moves
 * @sk: socket
 * @new_state: enum tcp_ca_state
 */
void tcp_reorder_set_state(struct sock *sk, u8 new_state)
{
	struct tcp_reorder *tr = tcp_reorder_sk(sk);
	u8 old_state = inet_csk(sk)->icsk_ca_state;
	struct tcp_sock *tp = tcp_sk(sk);

	/* A lost SYN comes here before tcp_reorder_init(). */
	if (!tr->ops)
		return;

	if (new_state == TCP_CA_Disorder && old_state == TCP_CA_Open) {
		if (tr->ops->disorder)
			tr->ops->disorder(sk);
		tcp_reorder_lt_clamp(tp, tr);
		return;
	}

	tcp_reorder_lt_end(tp, tr);
	if (new_state == TCP_CA_Recovery && tr->ops->recovery)
		tr->ops->recovery(sk);
	if (new_state == TCP_CA_Loss)
		tcp_reorder_loss(sk, tr);
	if (new_state == TCP_CA_CWR)
		return;
	tr->dupacks = 0;
	/*
	 * tcp_enter_loss() has just reset tp->reordering.  After a recovery the
	 * kernel may decide once more on this ACK.  But when one begins it is
	 * about to mark what the threshold in force has found.
	 */
	if (new_state != TCP_CA_Recovery)
		tcp_reorder_apply(sk, tr, new_state, false);
}
EXPORT_SYMBOL_GPL(tcp_reorder_set_state);

/**
 * tcp_reorder_pkts_acked() - an ACK, between scoreboard and loss decision
 * @sk: socket
 * @sample: unused
 */
void tcp_reorder_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_reorder *tr = tcp_reorder_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	/* Segments; tp->delivered counts duplicates as well. */
	s32 newly = tp->delivered - tr->delivered -
		    (tp->dsack_dups - tr->dsacks);

	/* The handshake comes here before tcp_reorder_init(). */
	if (!tr->ops)
		return;

	if (tcp_is_sack(tp) &&
	    (tr->board || (tp->sacked_out && tcp_reorder_make_board(sk, tr))))
		tcp_reorder_update_board(sk, tr);

	if (tp->snd_una != tr->una) {
		tr->dupacks = 0;
		tr->una_us = tp->tcp_mstamp;
		tcp_reorder_lt_end(tp, tr);
	} else if (newly > 0) {
		tr->dupacks += newly;
		if (inet_csk(sk)->icsk_ca_state == TCP_CA_Disorder)
			tcp_reorder_lt_clamp(tp, tr);
	}
	tr->una = tp->snd_una;
	tr->delivered = tp->delivered;
	tr->dsacks = tp->dsack_dups;
	tr->retrans = tp->total_retrans;
	tcp_reorder_apply(sk, tr, inet_csk(sk)->icsk_ca_state, newly > 0);
}
EXPORT_SYMBOL_GPL(tcp_reorder_pkts_acked);

/**
 * tcp_reorder_undo_cwnd() - a reduction proved wrong
 * @sk: socket
 *
 * With TCP_REORDER_UNDO_SLOW_START the kernel raises ssthresh to the window
 * before the reduction (it does so from tp->prior_ssthresh, which holds three
 * quarters of it), and slow start gets there from half of it; after a timeout
 * from where the window is.
 *
 * Return: the window to go on with, segments.
 */
u32 tcp_reorder_undo_cwnd(struct sock *sk)
{
	struct tcp_reorder *tr = tcp_reorder_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	tcp_reorder_count(sk, TCP_REORDER_UNDONE);
	trace_tcp_reorder_undo(sk, cwnd, tp->prior_cwnd);
	if (tr->style.undo == TCP_REORDER_UNDO_AT_ONCE)
		return max(cwnd, tp->prior_cwnd);

	tp->prior_ssthresh = max(tp->prior_ssthresh, tp->prior_cwnd);
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		return cwnd;
	return max(cwnd, min(tp->snd_ssthresh, tp->prior_cwnd));
}
EXPORT_SYMBOL_GPL(tcp_reorder_undo_cwnd);

/* ------------------------------------------------------------------------
 * Registration and parameters
 */

/**
 * tcp_reorder_register() - offer an algorithm that decides by a threshold
 * @ca: its congestion control operations
 *
 * Return: 0; -EOPNOTSUPP on a kernel that cannot honour a threshold; or what
 * tcp_register_congestion_control() returns.
 */
int tcp_reorder_register(struct tcp_congestion_ops *ca)
{
	BUILD_BUG_ON(sizeof(struct tcp_reorder) > ICSK_CA_PRIV_SIZE);

	if (!tcp_reorder_kernel_has_threshold()) {
		pr_err("%s cannot work on this kernel: it leaves loss detection to RACK alone; use a kernel up to 6.16, or one that lets a module set the threshold\n",
		       ca->name);
		return -EOPNOTSUPP;
	}
	return tcp_register_congestion_control(ca);
}
EXPORT_SYMBOL_GPL(tcp_reorder_register);

static int tcp_reorder_range_set(const char *text,
				 const struct kernel_param *kp)
{
	struct tcp_reorder_range *range = kp->arg;
	int value, err;

	err = kstrtoint(text, 0, &value);
	if (!err && (value < range->min || value > range->max))
		err = -ERANGE;
	if (err) {
		pr_err("parameter %s takes a whole number from %d to %d\n",
		       kp->name, range->min, range->max);
		return err;
	}
	WRITE_ONCE(range->value, value);
	return 0;
}

static int tcp_reorder_choice_set(const char *text,
				  const struct kernel_param *kp)
{
	struct tcp_reorder_choice *choice = kp->arg;
	int value = __sysfs_match_string(choice->words, choice->count, text);
	char list[80] = "";
	int i, length = 0;

	if (value < 0) {
		for (i = 0; i < choice->count; i++)
			length += scnprintf(list + length,
					    sizeof(list) - length, " %s",
					    choice->words[i]);
		pr_err("parameter %s is one of:%s\n", kp->name, list);
		return value;
	}
	WRITE_ONCE(choice->value, value);
	return 0;
}

static int tcp_reorder_choice_get(char *text, const struct kernel_param *kp)
{
	const struct tcp_reorder_choice *choice = kp->arg;

	return sysfs_emit(text, "%s\n",
			  choice->words[READ_ONCE(choice->value)]);
}

const struct kernel_param_ops tcp_reorder_choice_ops = {
	.set = tcp_reorder_choice_set,
	.get = tcp_reorder_choice_get,
};
EXPORT_SYMBOL_GPL(tcp_reorder_choice_ops);

static int tcp_reorder_range_get(char *text, const struct kernel_param *kp)
{
	const struct tcp_reorder_range *range = kp->arg;

	return sysfs_emit(text, "%d\n", READ_ONCE(range->value));
}

const struct kernel_param_ops tcp_reorder_range_ops = {
	.set = tcp_reorder_range_set,
	.get = tcp_reorder_range_get,
};
EXPORT_SYMBOL_GPL(tcp_reorder_range_ops);

/* ------------------------------------------------------------------------
 * Network namespaces: counters and /proc/net/tcp_reorder
 */

static int tcp_reorder_show(struct seq_file *seq, void *unused)
{
	struct net *net = seq_file_single_net(seq);
	struct tcp_reorder_net *rn = net_generic(net, tcp_reorder_net_id);
	int i, cpu;

	for (i = 0; i < TCP_REORDER_COUNTERS; i++) {
		unsigned long sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu_ptr(rn->counts, cpu)->at[i];
		seq_printf(seq, "%s %lu\n", tcp_reorder_names[i], sum);
	}
	return 0;
}

static int __net_init tcp_reorder_net_init(struct net *net)
{
	struct tcp_reorder_net *rn = net_generic(net, tcp_reorder_net_id);

	rn->counts = alloc_percpu(struct tcp_reorder_counts);
	if (!rn->counts)
		return -ENOMEM;
	if (!proc_create_net_single("tcp_reorder", 0444, net->proc_net,
				    tcp_reorder_show, NULL) &&
	    IS_ENABLED(CONFIG_PROC_FS)) {
		free_percpu(rn->counts);
		return -ENOMEM;
	}
	return 0;
}

static void __net_exit tcp_reorder_net_exit(struct net *net)
{
	struct tcp_reorder_net *rn = net_generic(net, tcp_reorder_net_id);

	remove_proc_entry("tcp_reorder", net->proc_net);
	free_percpu(rn->counts);
}

static struct pernet_operations tcp_reorder_net_ops = {
	.init = tcp_reorder_net_init,
	.exit = tcp_reorder_net_exit,
	.id = &tcp_reorder_net_id,
	.size = sizeof(struct tcp_reorder_net),
};

static int __init tcp_reorder_module_init(void)
{
	return register_pernet_subsys(&tcp_reorder_net_ops);
}

static void __exit tcp_reorder_module_exit(void)
{
	unregister_pernet_subsys(&tcp_reorder_net_ops);
}

module_init(tcp_reorder_module_init);
module_exit(tcp_reorder_module_exit);

MODULE_DESCRIPTION("Reordering events and loss thresholds for TCP senders");
MODULE_AUTHOR("The tcp-reorder authors");
MODULE_LICENSE("GPL");
