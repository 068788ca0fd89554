/* SPDX-License-Identifier: GPL-2.0 */
/*
 * avgdev_math.h - the equations of AVG-DEV, numbered as in the paper
 *
 *   K.-C. Leung and C. Ma, "Enhancing TCP Performance to Persistent Packet
 *   Reordering", Journal of Communications and Networks, 2005, section III.
 *
 * Reordering lengths are counted in segments.  avg and mdev are fixed point
 * with 16 fractional bits (suffix _q16).  Weights are in thousandths, 0 to
 * 1000 (suffix _pm).  Nothing here touches kernel state: the table of cases in
 * selftests/cases runs on it in KUnit and as a user-space program.
 */
#ifndef _AVGDEV_MATH_H
#define _AVGDEV_MATH_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#endif

#define AVGDEV_PM		1000	/* weights are in thousandths */
#define AVGDEV_Q16		16	/* fractional bits of avg and mdev */
#define AVGDEV_MAX_LENGTH	32767	/* segments, fits avg + mdev in u32 */
#define AVGDEV_NO_BOUND		0xffffffffU	/* ub_tmo before any RTO */

/* How (4) and (11) become whole segments (the paper prints bare bars). */
enum avgdev_rounding {
	AVGDEV_FLOOR,
	AVGDEV_NEAREST,
	AVGDEV_CEIL,
};

/**
 * struct avgdev_estimate - the running estimate of the reordering length
 * @avg_q16: moving average, segments, eq. (1)
 * @mdev_q16: mean deviation, segments, eq. (3)
 */
struct avgdev_estimate {
	u32 avg_q16;
	u32 mdev_q16;
};

/* weight * value + (1 - weight) * old; exact when value equals old */
static inline u32 avgdev_ewma(u32 old, u32 value, u32 weight_pm)
{
	s64 step = ((s64)value - old) * weight_pm;

	return (u32)(old + div_s64(step, AVGDEV_PM));
}

/**
 * avgdev_sample() - equations (1), (2) and (3)
 * @e: estimate; an all-zero one takes the first sample as it is (the paper
 *     gives no initial values)
 * @length: reordering length r, segments, at least 1
 * @alpha_pm: weight of the sample in avg, thousandths
 * @beta_pm: weight of the error in mdev, thousandths
 *
 * The error (2) is taken against the old average.
 */
static inline void avgdev_sample(struct avgdev_estimate *e, u32 length,
				 u32 alpha_pm, u32 beta_pm)
{
	u32 r_q16, aerr_q16;

	if (length > AVGDEV_MAX_LENGTH)
		length = AVGDEV_MAX_LENGTH;
	r_q16 = length << AVGDEV_Q16;

	if (!e->avg_q16) {
		e->avg_q16 = r_q16;
		return;
	}
	aerr_q16 = r_q16 > e->avg_q16 ? r_q16 - e->avg_q16 :
					e->avg_q16 - r_q16;	/* (2) */
	e->mdev_q16 = avgdev_ewma(e->mdev_q16, aerr_q16, beta_pm); /* (3) */
	e->avg_q16 = avgdev_ewma(e->avg_q16, r_q16, alpha_pm);	/* (1) */
}

static inline u32 avgdev_round(u64 value_q16, enum avgdev_rounding rounding)
{
	const u64 one = 1ULL << AVGDEV_Q16;

	if (rounding == AVGDEV_NEAREST)
		value_q16 += one / 2;
	else if (rounding == AVGDEV_CEIL)
		value_q16 += one - 1;
	return (u32)(value_q16 >> AVGDEV_Q16);
}

/**
 * avgdev_dupthresh() - equation (4)
 * @e: estimate
 * @lambda_pm: weight of mdev, thousandths
 * @rounding: how to reach whole segments
 *
 * Return: dupthresh in segments, 0 before the first sample.
 */
static inline u32 avgdev_dupthresh(const struct avgdev_estimate *e,
				   u32 lambda_pm, enum avgdev_rounding rounding)
{
	u64 sum_q16 = e->avg_q16 +
		      div_u64((u64)e->mdev_q16 * lambda_pm, AVGDEV_PM);

	return avgdev_round(sum_q16, rounding);
}

/**
 * avgdev_bound() - equation (11): how many dupACKs fit before the RTO
 * @rto_us: retransmission timeout without backoff, us
 * @srtt_us: smoothed round trip time, us, at least 1
 * @cwnd: window before the reduction, segments
 * @gamma_pm: part of the RTO to use, thousandths
 * @rtts: round trips kept free, the 2 of (11); 0 because the kernel restarts
 *        the timer at the last cumulative ACK and again at the retransmission
 *
 * (gamma * RTO / RTT - rtts) * cwnd, the product taken before the division.
 *
 * Return: segments, rounded down, never below 3 (the standard's own threshold).
 */
static inline u32 avgdev_bound(u32 rto_us, u32 srtt_us, u32 cwnd, u32 gamma_pm,
			       u32 rtts)
{
	s64 room_us = (s64)div_u64((u64)rto_us * gamma_pm, AVGDEV_PM) -
		      (s64)srtt_us * rtts;
	u64 m;

	if (room_us <= 0)
		return 3;
	m = div64_u64((u64)room_us * cwnd, srtt_us);
	if (m > AVGDEV_MAX_LENGTH)
		m = AVGDEV_MAX_LENGTH;
	return m > 3 ? (u32)m : 3;
}

/**
 * avgdev_decay() - equations (13) and (14), at a retransmission timeout
 * @e: estimate
 * @c1_pm: factor of avg, thousandths
 * @c2_pm: factor of mdev, thousandths
 */
static inline void avgdev_decay(struct avgdev_estimate *e, u32 c1_pm, u32 c2_pm)
{
	e->avg_q16 = (u32)div_u64((u64)e->avg_q16 * c1_pm, AVGDEV_PM);
	e->mdev_q16 = (u32)div_u64((u64)e->mdev_q16 * c2_pm, AVGDEV_PM);
}

#endif /* _AVGDEV_MATH_H */
