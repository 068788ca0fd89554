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
 *			paper		linux
 *  ub_rtts		2		0	the 2 of (11), see avgdev_bound()
 *  limited_transmit	half		kernel	section IV-D; the kernel sends one
 *						new segment per SACKed one
 *  count		dupacks		sacked	k restarts at each new SND.UNA, or
 *						the kernel's count per hole
 *  undo		slow-start	at-once	how the old window comes back
 *  rounding		floor		ceil	of (4): with floor a constant length
 *						is approached and never reached
 *  tmo_reset_s		0 (never)	60	age at which ub_tmo is forgotten;
 *						by (12) alone it can only fall
 *
 * In both:
 *  - Samples are false fast retransmits (section III-A).  III-B can be read as
 *    "every reordering event": sample_src=all.  It is also what is left when
 *    the peer sends no DSACKs.
 *  - "k > dupthresh" (Fig. 1) rather than "dupthresh duplicate ACKs" (section
 *    IV-D): strict_gt=0 selects the latter.
 *  - The first sample sets avg, with mdev 0, and the threshold is 3 before it.
 *    The paper gives no initial values.
 *  - (11) uses the window before the reduction that is being undone, else every
 *    false fast retransmit would halve its own bound.  It is applied at each
 *    sample and each first duplicate ACK, because RTO, RTT and cwnd move.
 *  - With limited_transmit=half at most 2 * cwnd - 1 duplicate ACKs can arrive,
 *    so the threshold never exceeds that.
 *  - The kernel also undoes by timestamps (Eifel), about a round trip earlier
 *    than by DSACK; net.ipv4.tcp_timestamps=0 leaves DSACK alone.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "../tcp_reorder/tcp_reorder.h"
#include "avgdev_math.h"

/* Words of the parameters.  In each list but the first two, word 0 means "as
 * the profile says", and word i + 1 is value i of the enum behind it.
 */
enum avgdev_profile { AVGDEV_LINUX, AVGDEV_PAPER };
static const char *const avgdev_profiles[] = { "linux", "paper" };

enum avgdev_sample_src { AVGDEV_FFR, AVGDEV_ALL };
static const char *const avgdev_sources[] = { "ffr", "all" };

static const char *const avgdev_transmits[] = { "profile", "kernel", "half" };
static const char *const avgdev_counts[] = { "profile", "sacked", "dupacks" };
static const char *const avgdev_undos[] = {
	"profile", "slow-start", "at-once"
};

static const char *const avgdev_lengths[] = { "profile", "mean", "first" };
static const char *const avgdev_roundings[] = {
	"profile", "floor", "nearest", "ceil"
};

TCP_REORDER_CHOICE(profile, avgdev_profiles,
		   "linux (default): what served best; paper: the letter of it");
TCP_REORDER_CHOICE(sample_src, avgdev_sources,
		   "ffr (default): false fast retransmits; all: every reordering");
TCP_REORDER_CHOICE(limited_transmit, avgdev_transmits,
		   "profile (default); kernel: one new segment per SACKed one; half: two, then every second");
TCP_REORDER_CHOICE(count, avgdev_counts,
		   "profile (default); sacked: SACKed above the hole; dupacks: since SND.UNA advanced");
TCP_REORDER_CHOICE(undo, avgdev_undos,
		   "profile (default); slow-start to the old window; at-once");
TCP_REORDER_CHOICE(length, avgdev_lengths,
		   "profile (default); mean over both copies; first copy's");
TCP_REORDER_CHOICE(rounding, avgdev_roundings,
		   "profile (default); floor, nearest or ceil of equation (4)");
TCP_REORDER_PARAM(alpha, 300, 1, 1000,
		  "weight of a sample in avg, thousandths, eq. (1)");
TCP_REORDER_PARAM(beta, 300, 1, 1000,
		  "weight of an error in mdev, thousandths, eq. (3)");
TCP_REORDER_PARAM(lambda, 300, 0, 8000,
		  "weight of mdev in dupthresh, thousandths, eq. (4)");
TCP_REORDER_PARAM(gamma, 700, 1, 1000,
		  "part of the RTO to use, thousandths, eq. (8)");
TCP_REORDER_PARAM(c1, 500, 0, 1000,
		  "factor of avg at a timeout, thousandths, eq. (13)");
TCP_REORDER_PARAM(c2, 250, 0, 1000,
		  "factor of mdev at a timeout, thousandths, eq. (14)");
TCP_REORDER_PARAM(ub_rtts, -1, -1, 4,
		  "round trips kept free in eq. (11), -1 = by profile");
TCP_REORDER_PARAM(tmo_reset_s, -1, -1, 86400,
		  "seconds until a timeout's bound is forgotten, 0 = never, -1 = by profile");
TCP_REORDER_PARAM(strict_gt, 1, 0, 1,
		  "1: fire when k > dupthresh (Fig. 1), 0: when k = dupthresh");

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
	return tcp_reorder_param(profile) == AVGDEV_PAPER;
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
	u32 reset_s = avgdev_choose_int(tcp_reorder_param(tmo_reset_s), 0, 60);

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
	u32 rounding = avgdev_choose(tcp_reorder_param(rounding), AVGDEV_FLOOR,
				     AVGDEV_CEIL);
	u32 ub_rtts = avgdev_choose_int(tcp_reorder_param(ub_rtts), 2, 0);
	u32 threshold;

	ad->dupthresh = avgdev_dupthresh(&ad->estimate,
					 tcp_reorder_param(lambda), rounding);
	/* The timer without its backoff is srtt + rttvar. */
	ad->dupthresh = min3(ad->dupthresh, avgdev_timeout_bound(ad),
			     avgdev_bound(srtt_us + tp->rttvar_us, srtt_us,
					  cwnd, tcp_reorder_param(gamma),
					  ub_rtts));

	threshold = ad->dupthresh + tcp_reorder_param(strict_gt);
	if (ad->reorder.style.limited_transmit == TCP_REORDER_LT_HALF)
		threshold = min(threshold, 2 * cwnd - 1);
	tcp_reorder_set_threshold(sk, threshold);
}

static void avgdev_sample_event(struct sock *sk,
				const struct tcp_reorder_sample *sample)
{
	struct avgdev *ad = avgdev_sk(sk);

	avgdev_sample(&ad->estimate, sample->length, tcp_reorder_param(alpha),
		      tcp_reorder_param(beta));
	ad->samples++;
	avgdev_set_dupthresh(sk, max(tcp_snd_cwnd(tcp_sk(sk)),
				     sample->prior_cwnd));
}

/* ------------------------------------------------------------------------
 * Events
 */

static void avgdev_hole_filled(struct sock *sk,
			       const struct tcp_reorder_sample *sample)
{
	if (tcp_reorder_param(sample_src) == AVGDEV_ALL ||
	    tcp_reorder_dsack_missing(sk))
		avgdev_sample_event(sk, sample);
}

static void avgdev_timeout(struct sock *sk)
{
	struct avgdev *ad = avgdev_sk(sk);

	ad->timeouts++;
	if (!ad->samples)
		return;
	ad->ub_tmo = ad->dupthresh;
	ad->ub_tmo_stamp = tcp_jiffies32;
	avgdev_decay(&ad->estimate, tcp_reorder_param(c1),
		     tcp_reorder_param(c2));
	avgdev_set_dupthresh(sk, ad->reorder.prior_cwnd);
}

/* RTO, RTT and cwnd have moved since the last sample. */
static void avgdev_disorder(struct sock *sk)
{
	if (avgdev_sk(sk)->samples)
		avgdev_set_dupthresh(sk, tcp_snd_cwnd(tcp_sk(sk)));
}

static const struct tcp_reorder_ops avgdev_events = {
	.hole_filled = avgdev_hole_filled,
	.false_fr = avgdev_sample_event,
	.timeout = avgdev_timeout,
	.disorder = avgdev_disorder,
};

/* ------------------------------------------------------------------------
 * Congestion control
 */

static void avgdev_init(struct sock *sk)
{
	struct tcp_reorder_style style = {
		.limited_transmit =
			avgdev_choose(tcp_reorder_param(limited_transmit),
				      TCP_REORDER_LT_HALF,
				      TCP_REORDER_LT_KERNEL),
		.count = avgdev_choose(tcp_reorder_param(count),
				       TCP_REORDER_COUNT_DUPACKS,
				       TCP_REORDER_COUNT_SACKED),
		.undo = avgdev_choose(tcp_reorder_param(undo),
				      TCP_REORDER_UNDO_SLOW_START,
				      TCP_REORDER_UNDO_AT_ONCE),
		.length = avgdev_choose(tcp_reorder_param(length),
					TCP_REORDER_LENGTH_MEAN,
					TCP_REORDER_LENGTH_MEAN),
	};
	struct avgdev *ad = avgdev_sk(sk);

	memset(ad, 0, sizeof(*ad));
	ad->ub_tmo = AVGDEV_NO_BOUND;
	tcp_reorder_init(sk, &avgdev_events, style);
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
	.cwnd_event = tcp_reorder_cwnd_event,
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
