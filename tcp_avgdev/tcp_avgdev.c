// SPDX-License-Identifier: GPL-2.0
/*
 * AVG-DEV: a duplicate ACK threshold from the mean and deviation of reordering
 *
 *   K.-C. Leung and C. Ma, "Enhancing TCP Performance to Persistent Packet
 *   Reordering", Journal of Communications and Networks, 2005.  Section and
 *   equation numbers below are theirs; the equations are in avgdev_math.h.
 *
 * Model
 * -----
 * A fast retransmit of segment p is false if the original of p was only late.
 * The peer's DSACK says so, and the reordering length N(p) says how late, in
 * segments.  Keep a moving average and a mean deviation of those lengths:
 *
 *   on a false fast retransmit with length r:                 section III-B
 *	aerr = |r - avg|					(2)
 *	mdev = beta * aerr + (1 - beta) * mdev			(3)
 *	avg  = alpha * r + (1 - alpha) * avg			(1)
 *	dupthresh = avg + lambda * mdev				(4)
 *
 *   never wait longer than the retransmission timer allows:   section III-C
 *	ub_f = (gamma * RTO / RTT - 2) * cwnd			(11)
 *	dupthresh = min(dupthresh, ub_f, ub_tmo)		(12)
 *
 *   on a retransmission timeout:                              section III-D
 *	ub_tmo = dupthresh
 *	avg  = C1 * avg						(13)
 *	mdev = C2 * mdev					(14)
 *
 *   on the k-th duplicate ACK: retransmit when k > dupthresh  Fig. 1
 *
 *                 dupACKs <= dupthresh            hole filled
 *            .------------------------.   .------------------------.
 *            |                        v   |                        v
 *          Open                      Disorder                    Open
 *                                       |
 *                    dupACKs > dupthresh|            DSACK: undo, sample
 *                                       v        .----------------------.
 *                                    Recovery ---'                      v
 *                                       |                             Open
 *                                       | timer
 *                                       v
 *                                     Loss: ub_tmo, decay
 *
 * Window: Reno.  After a false fast retransmit slow start leads back to the
 * window before it (section III-A).
 *
 * Where we differ from the paper
 * ------------------------------
 * profile=paper follows the text wherever the text decides; profile=linux, the
 * default, is what served best on real kernels.  A parameter set to anything
 * but "profile" (or -1) overrides both.
 *
 *                     paper       linux
 *   ub_rtts           2           0         the 2 of (11), see avgdev_bound()
 *   timer_guard       0           1         (8) by the clock as well: a hole
 *                                           waits gamma * RTO at the most
 *   tmo_reset_s       0 (never)   10        age at which ub_tmo is forgotten;
 *                                           by (12) alone it can only fall
 *   limited_transmit  half        kernel    section IV-D; the kernel sends one
 *                                           new segment per SACKed one
 *   undo              slow-start  at-once   how the old window comes back
 *   rounding          floor       ceil      of (4): floor comes close to a
 *                                           constant length, and stays below
 *   and (13), (14)    every RTO   those that interrupt Disorder: a lost
 *                                 retransmission says nothing about dupthresh
 *
 * In both:
 *  - Samples are false fast retransmits (section III-A).  III-B can be read as
 *    "every reordering event": sample_src=all.  It is also what is left when
 *    the peer sends no DSACKs.
 *  - "k > dupthresh" (Fig. 1) rather than "dupthresh duplicate ACKs" (section
 *    IV-D): strict_gt=0 selects the latter.
 *  - k restarts whenever SND.UNA advances, as in the paper's simulator.  The
 *    kernel's own count, segments SACKed above the hole (count=sacked), fires
 *    earlier when many holes are open.
 *  - The first sample sets avg, with mdev 0, and the threshold is 3 before it.
 *    The paper gives no initial values.
 *  - (11) uses the window before the reduction that is being undone, else every
 *    false fast retransmit would halve its own bound.  It is applied at each
 *    sample, each first duplicate ACK and each recovery, because RTO, RTT and
 *    cwnd move.
 *  - With limited_transmit=half at most 2 * cwnd - 1 duplicate ACKs can arrive,
 *    so the threshold never exceeds that.  It is never below 3.
 *  - The length of a false fast retransmit is the mean over the two copies of
 *    the segment, as RR-TCP does it, since no ACK says which copy it is for:
 *    length=first takes the first arrival.
 *  - The undo is the kernel's: for a whole recovery, when all its
 *    retransmissions are proven unnecessary.  Slow start then begins at
 *    ssthresh, which is where the paper's fast recovery has cwnd.
 *  - In a recovery the kernel's count of SACKed segments above each hole
 *    decides on further holes.
 *  - With limited_transmit=kernel the window may grow on ACKs that only SACK.
 *  - The kernel also undoes by timestamps (Eifel), about a round trip earlier
 *    than by DSACK; net.ipv4.tcp_timestamps=0 leaves DSACK alone.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "../tcp_reorder/tcp_reorder.h"
#include "avgdev_math.h"

/*
 * Parameters.  Numbers are checked against their range and words against their
 * list.  "profile" and -1 stand for what the profile says.  Estimator and
 * bounds follow a change at once; limited_transmit, count, undo, length and
 * timer_guard are read when a connection starts.
 */
enum avgdev_profile { AVGDEV_LINUX, AVGDEV_PAPER };
enum avgdev_sample_src { AVGDEV_FFR, AVGDEV_ALL };

static const char *const profile_words[] = { "linux", "paper" };
static const char *const sample_src_words[] = { "ffr", "all" };
static const char *const count_words[] = { "dupacks", "sacked" };
static const char *const length_words[] = { "mean", "first" };
/* In the lists below word i + 1 is value i of the enum behind it. */
static const char *const limited_transmit_words[] = {
	"profile", "kernel", "half"
};

static const char *const undo_words[] = { "profile", "slow-start", "at-once" };
static const char *const rounding_words[] = {
	"profile", "floor", "nearest", "ceil"
};

static struct avgdev_params {
	struct tcp_reorder_choice profile, sample_src, limited_transmit, count;
	struct tcp_reorder_choice undo, length, rounding;
	struct tcp_reorder_range alpha, beta, lambda, gamma, c1, c2;
	struct tcp_reorder_range ub_rtts, tmo_reset_s, timer_guard, strict_gt;
} params = {
	.profile = { 0, profile_words, ARRAY_SIZE(profile_words) },
	.sample_src = { 0, sample_src_words, ARRAY_SIZE(sample_src_words) },
	.limited_transmit = { 0, limited_transmit_words,
			      ARRAY_SIZE(limited_transmit_words) },
	.count = { 0, count_words, ARRAY_SIZE(count_words) },
	.undo = { 0, undo_words, ARRAY_SIZE(undo_words) },
	.length = { 0, length_words, ARRAY_SIZE(length_words) },
	.rounding = { 0, rounding_words, ARRAY_SIZE(rounding_words) },
	/*		default, min, max */
	.alpha =	{ 300, 1, 1000 },	/* Table 1 */
	.beta =		{ 300, 1, 1000 },	/* Table 1 */
	.lambda =	{ 300, 0, 8000 },	/* Table 1 */
	.gamma =	{ 700, 1, 1000 },	/* Table 1 */
	.c1 =		{ 500, 0, 1000 },	/* Table 1 */
	.c2 =		{ 250, 0, 1000 },	/* Table 1 */
	.ub_rtts =	{ -1, -1, 4 },
	.tmo_reset_s =	{ -1, -1, 86400 },
	.timer_guard =	{ -1, -1, 1 },
	.strict_gt =	{ 1, 0, 1 },
};

#define avgdev_param(name)	READ_ONCE(params.name.value)

module_param_cb(profile, &tcp_reorder_choice_ops, &params.profile, 0644);
MODULE_PARM_DESC(profile, "linux (default): what served best; paper: its letter");
module_param_cb(sample_src, &tcp_reorder_choice_ops, &params.sample_src, 0644);
MODULE_PARM_DESC(sample_src, "ffr (default): false fast retransmits; all: every reordering");
module_param_cb(limited_transmit, &tcp_reorder_choice_ops,
		&params.limited_transmit, 0644);
MODULE_PARM_DESC(limited_transmit, "profile (default); kernel: a new segment per SACKed one; half: two, then every second");
module_param_cb(count, &tcp_reorder_choice_ops, &params.count, 0644);
MODULE_PARM_DESC(count, "dupacks (default): since SND.UNA advanced; sacked: segments above the hole");
module_param_cb(undo, &tcp_reorder_choice_ops, &params.undo, 0644);
MODULE_PARM_DESC(undo, "profile (default); slow-start to the old window; at-once");
module_param_cb(length, &tcp_reorder_choice_ops, &params.length, 0644);
MODULE_PARM_DESC(length, "of a false fast retransmit: mean (default) over both copies, or first");
module_param_cb(rounding, &tcp_reorder_choice_ops, &params.rounding, 0644);
MODULE_PARM_DESC(rounding, "profile (default); floor, nearest or ceil of equation (4)");
module_param_cb(alpha, &tcp_reorder_range_ops, &params.alpha, 0644);
MODULE_PARM_DESC(alpha, "weight of a sample in avg, thousandths, eq. (1), 1 to 1000, default 300");
module_param_cb(beta, &tcp_reorder_range_ops, &params.beta, 0644);
MODULE_PARM_DESC(beta, "weight of an error in mdev, thousandths, eq. (3), 1 to 1000, default 300");
module_param_cb(lambda, &tcp_reorder_range_ops, &params.lambda, 0644);
MODULE_PARM_DESC(lambda, "weight of mdev in dupthresh, thousandths, eq. (4), 0 to 8000, default 300");
module_param_cb(gamma, &tcp_reorder_range_ops, &params.gamma, 0644);
MODULE_PARM_DESC(gamma, "part of the RTO to use, thousandths, eq. (8), 1 to 1000, default 700");
module_param_cb(c1, &tcp_reorder_range_ops, &params.c1, 0644);
MODULE_PARM_DESC(c1, "factor of avg at a timeout, thousandths, eq. (13), 0 to 1000, default 500");
module_param_cb(c2, &tcp_reorder_range_ops, &params.c2, 0644);
MODULE_PARM_DESC(c2, "factor of mdev at a timeout, thousandths, eq. (14), 0 to 1000, default 250");
module_param_cb(ub_rtts, &tcp_reorder_range_ops, &params.ub_rtts, 0644);
MODULE_PARM_DESC(ub_rtts, "round trips kept free in eq. (11), 0 to 4, -1 (default) by profile");
module_param_cb(tmo_reset_s, &tcp_reorder_range_ops, &params.tmo_reset_s, 0644);
MODULE_PARM_DESC(tmo_reset_s, "seconds until the bound of a timeout is forgotten, 0 = never, up to 86400, -1 (default) by profile");
module_param_cb(timer_guard, &tcp_reorder_range_ops, &params.timer_guard, 0644);
MODULE_PARM_DESC(timer_guard, "1: a hole waits gamma * RTO at the most, 0: no such limit, -1 (default) by profile");
module_param_cb(strict_gt, &tcp_reorder_range_ops, &params.strict_gt, 0644);
MODULE_PARM_DESC(strict_gt, "1 (default): fire when k > dupthresh (Fig. 1), 0: when k = dupthresh");

/**
 * struct avgdev - state of a connection
 * @reorder: the engine's part
 * @estimate: avg and mdev
 * @dupthresh: eq. (4) after (12), segments; 0 before the first sample
 * @ub_tmo: dupthresh at the latest timeout, segments, or AVGDEV_NO_BOUND
 * @ub_tmo_stamp: when that was, jiffies
 * @samples: samples taken
 * @timeouts: retransmission timeouts
 */
struct avgdev {
	struct tcp_reorder reorder;
	struct avgdev_estimate estimate;
	u32 dupthresh;
	u32 ub_tmo;
	u32 ub_tmo_stamp;
	u32 samples;
	u32 timeouts;
};

/**
 * struct avgdev_info - what getsockopt(TCP_CC_INFO) and inet_diag return
 * @threshold: segments SACKed above a hole that make it lost
 * @avg_q16: eq. (1), segments * 65536
 * @mdev_q16: eq. (3), segments * 65536
 * @samples: samples taken
 * @timeouts: retransmission timeouts
 */
struct avgdev_info {
	u32 threshold;
	u32 avg_q16;
	u32 mdev_q16;
	u32 samples;
	u32 timeouts;
};

static struct avgdev *avgdev_sk(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static bool avgdev_by_paper(void)
{
	return avgdev_param(profile) == AVGDEV_PAPER;
}

/* A word parameter, or the profile's value if it says "profile". */
static u32 avgdev_choose(int word, u32 paper, u32 by_linux)
{
	if (word)
		return word - 1;
	return avgdev_by_paper() ? paper : by_linux;
}

/* An integer parameter, or the profile's value if it is -1. */
static u32 avgdev_choose_int(int value, u32 paper, u32 by_linux)
{
	if (value >= 0)
		return value;
	return avgdev_by_paper() ? paper : by_linux;
}

/* Equation (12) without the part that depends on cwnd. */
static u32 avgdev_timeout_bound(const struct avgdev *ad)
{
	u32 reset_s = avgdev_choose_int(avgdev_param(tmo_reset_s), 0, 10);

	if (reset_s && tcp_jiffies32 - ad->ub_tmo_stamp > reset_s * HZ)
		return AVGDEV_NO_BOUND;
	return ad->ub_tmo;
}

/* Equations (4), (11) and (12); @cwnd is the window not yet reduced. */
static void avgdev_set_dupthresh(struct sock *sk, u32 cwnd)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct avgdev *ad = avgdev_sk(sk);
	u32 srtt_us = max(tp->srtt_us >> 3, 1U);
	u32 rounding = avgdev_choose(avgdev_param(rounding), AVGDEV_FLOOR,
				     AVGDEV_CEIL);
	u32 ub_rtts = avgdev_choose_int(avgdev_param(ub_rtts), 2, 0);
	u32 lambda = avgdev_param(lambda);
	u32 gamma = avgdev_param(gamma);
	u32 threshold;

	ad->dupthresh = avgdev_dupthresh(&ad->estimate, lambda, rounding);
	/* The timer without its backoff is srtt + rttvar. */
	ad->dupthresh = min3(ad->dupthresh, avgdev_timeout_bound(ad),
			     avgdev_bound(srtt_us + tp->rttvar_us, srtt_us,
					  cwnd, gamma, ub_rtts));

	threshold = ad->dupthresh + avgdev_param(strict_gt);
	if (ad->reorder.style.limited_transmit == TCP_REORDER_LT_HALF)
		threshold = min(threshold, 2 * cwnd - 1);
	tcp_reorder_set_threshold(sk, threshold);
}

static void avgdev_sample_event(struct sock *sk,
				const struct tcp_reorder_sample *sample)
{
	struct avgdev *ad = avgdev_sk(sk);

	avgdev_sample(&ad->estimate, sample->length, avgdev_param(alpha),
		      avgdev_param(beta));
	ad->samples++;
	avgdev_set_dupthresh(sk, max(tcp_reorder_window(sk),
				     sample->prior_cwnd));
}

/* ------------------------------------------------------------------------
 * Events
 */

static void avgdev_hole_filled(struct sock *sk,
			       const struct tcp_reorder_sample *sample)
{
	if (avgdev_param(sample_src) == AVGDEV_ALL ||
	    tcp_reorder_dsack_missing(sk))
		avgdev_sample_event(sk, sample);
}

static void avgdev_timeout(struct sock *sk, u8 state)
{
	struct avgdev *ad = avgdev_sk(sk);

	ad->timeouts++;
	if (!ad->samples || (state != TCP_CA_Disorder && !avgdev_by_paper()))
		return;
	ad->ub_tmo = ad->dupthresh;
	ad->ub_tmo_stamp = tcp_jiffies32;
	avgdev_decay(&ad->estimate, avgdev_param(c1),
		     avgdev_param(c2));
	avgdev_set_dupthresh(sk, ad->reorder.prior_cwnd);
}

/* RTO, RTT and cwnd have moved since the last sample. */
static void avgdev_disorder(struct sock *sk)
{
	if (avgdev_sk(sk)->samples)
		avgdev_set_dupthresh(sk, tcp_reorder_window(sk));
}

/* The duplicate ACKs of a recovery come from the reduced window. */
static void avgdev_recovery(struct sock *sk)
{
	if (avgdev_sk(sk)->samples)
		avgdev_set_dupthresh(sk, tcp_sk(sk)->snd_ssthresh);
}

static const struct tcp_reorder_ops avgdev_events = {
	.hole_filled = avgdev_hole_filled,
	.false_fr = avgdev_sample_event,
	.timeout = avgdev_timeout,
	.disorder = avgdev_disorder,
	.recovery = avgdev_recovery,
};

/* ------------------------------------------------------------------------
 * Congestion control
 */

static void avgdev_init(struct sock *sk)
{
	struct tcp_reorder_style style = {
		.limited_transmit =
			avgdev_choose(avgdev_param(limited_transmit),
				      TCP_REORDER_LT_HALF,
				      TCP_REORDER_LT_KERNEL),
		.count = avgdev_param(count),
		.undo = avgdev_choose(avgdev_param(undo),
				      TCP_REORDER_UNDO_SLOW_START,
				      TCP_REORDER_UNDO_AT_ONCE),
		.length = avgdev_param(length),
	};
	struct avgdev *ad = avgdev_sk(sk);

	memset(ad, 0, sizeof(*ad));
	ad->ub_tmo = AVGDEV_NO_BOUND;
	tcp_reorder_init(sk, &avgdev_events, style);
	if (avgdev_choose_int(avgdev_param(timer_guard), 0, 1))
		ad->reorder.patience_pm = avgdev_param(gamma);
}

static size_t avgdev_get_info(struct sock *sk, u32 ext, int *attr,
			      union tcp_cc_info *info)
{
	const struct avgdev *ad = avgdev_sk(sk);
	struct avgdev_info mine = {
		.threshold = ad->reorder.threshold,
		.avg_q16 = ad->estimate.avg_q16,
		.mdev_q16 = ad->estimate.mdev_q16,
		.samples = ad->samples,
		.timeouts = ad->timeouts,
	};

	BUILD_BUG_ON(sizeof(mine) > sizeof(*info));
	/* The bit by which dumps ask for an algorithm's own state. */
	if (!(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	memcpy(info, &mine, sizeof(mine));
	*attr = INET_DIAG_NONE;
	return sizeof(mine);
}

static struct tcp_congestion_ops avgdev_ops __read_mostly = {
	.init = avgdev_init,
	.release = tcp_reorder_release,
	.ssthresh = tcp_reorder_ssthresh,
	.cong_avoid = tcp_reorder_cong_avoid,
	.set_state = tcp_reorder_set_state,
	.pkts_acked = tcp_reorder_pkts_acked,
	.undo_cwnd = tcp_reorder_undo_cwnd,
	.get_info = avgdev_get_info,
	.flags = TCP_CONG_NON_RESTRICTED,
	.owner = THIS_MODULE,
	.name = "avgdev",
};

static int __init avgdev_module_init(void)
{
	BUILD_BUG_ON(sizeof(struct avgdev) > ICSK_CA_PRIV_SIZE);
	return tcp_reorder_register(&avgdev_ops);
}

static void __exit avgdev_module_exit(void)
{
	tcp_unregister_congestion_control(&avgdev_ops);
}

module_init(avgdev_module_init);
module_exit(avgdev_module_exit);

MODULE_DESCRIPTION("AVG-DEV: TCP that adapts its duplicate ACK threshold to reordering");
MODULE_AUTHOR("The tcp-reorder authors");
MODULE_LICENSE("GPL");
