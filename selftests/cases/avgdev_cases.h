/* SPDX-License-Identifier: GPL-2.0 */
/*
 * avgdev_cases.h - what the equations of AVG-DEV must give, worked by hand
 *
 * Averages and deviations (suffix _m) are in thousandths of a segment, weights
 * and factors (suffix _pm) in thousandths, times (suffix _us) in microseconds.
 */
#ifndef _SELFTESTS_AVGDEV_CASES_H
#define _SELFTESTS_AVGDEV_CASES_H

/* Equations (1), (2) and (3): one reordering length r, in segments. */
struct sample_case {
	const char *name;
	u32 avg_m, mdev_m;
	u32 r;
	u32 alpha_pm, beta_pm;
	u32 new_avg_m, new_mdev_m;
};

static const struct sample_case sample_cases[] = {
	{ "the first sample becomes the average and leaves no deviation",
	  0, 0, 7, 300, 300, 7000, 0 },
	{ "worked example, r = 9: 0.3 of the error",
	  5000, 0, 9, 300, 300, 6200, 1200 },
	{ "worked example, r = 20: error to the old average",
	  6200, 1200, 20, 300, 300, 10340, 4980 },
	{ "worked example, r = 4: a shorter one raises mdev",
	  10340, 4980, 4, 300, 300, 8438, 5388 },
	{ "a length equal to the average changes nothing",
	  12000, 0, 12, 300, 300, 12000, 0 },
	{ "a length equal to the average lets the deviation die out",
	  12000, 5000, 12, 300, 300, 12000, 3500 },
	{ "alpha 1: the average is the latest length",
	  5000, 0, 9, 1000, 300, 9000, 1200 },
	{ "beta 1: the deviation is the latest error",
	  10000, 3000, 5, 300, 1000, 8500, 5000 },
	{ "the smallest weights move by a thousandth",
	  10000, 0, 1010, 1, 1, 11000, 1000 },
	{ "a first length beyond the largest is taken as the largest",
	  0, 0, 40000, 300, 300, 32767000, 0 },
	{ "an absurd length is taken as the largest",
	  1000, 0, 0xffffffffU, 300, 300, 9830800, 9829800 },
	{ "one segment after the largest average does not wrap",
	  32767000, 0, 1, 1000, 1000, 1000, 32766000 },
};

/* Equation (4), in each way to reach whole segments. */
struct dupthresh_case {
	const char *name;
	u32 avg_m, mdev_m;
	u32 lambda_pm;
	u32 floor, nearest, ceil;
};

static const struct dupthresh_case dupthresh_cases[] = {
	{ "no threshold before the first sample", 0, 0, 300, 0, 0, 0 },
	{ "worked example: 6.2 + 0.36", 6200, 1200, 300, 6, 7, 7 },
	{ "worked example: 10.34 + 1.494", 10340, 4980, 300, 11, 12, 12 },
	{ "worked example: 8.438 + 1.6164", 8438, 5388, 300, 10, 10, 11 },
	{ "worked example, after the timeout: 4.219 + 0.4041",
	  4219, 1347, 300, 4, 5, 5 },
	{ "a whole sum stays what it is: 8.5 + 1.5",
	  8500, 5000, 300, 10, 10, 10 },
	{ "one half rounds up: 8.5", 8500, 5000, 0, 8, 9, 9 },
	{ "lambda 0 leaves the average alone", 7000, 5000, 0, 7, 7, 7 },
	{ "a tall lambda does not overflow: 32767 + 8 * 32767",
	  32767000, 32767000, 8000, 294903, 294903, 294903 },
};

/* Equation (11). */
struct bound_case {
	const char *name;
	u32 rto_us, srtt_us, cwnd, gamma_pm, rtts;
	u32 bound;
};

static const struct bound_case bound_cases[] = {
	{ "no round trip kept free: 0.7 * 3 * 10",
	  300000, 100000, 10, 700, 0, 21 },
	{ "one round trip kept free: (2.1 - 1) * 10",
	  300000, 100000, 10, 700, 1, 11 },
	{ "the letter of (11), RTO / RTT = 3: (2.1 - 2) * 10 is below 3",
	  300000, 100000, 10, 700, 2, 3 },
	{ "the letter of (11), RTO / RTT = 5: (3.5 - 2) * 100",
	  1000000, 200000, 100, 700, 2, 150 },
	{ "the fraction is dropped last: (3.33 - 2) * 100",
	  1000000, 210000, 100, 700, 2, 133 },
	{ "RTO / RTT = 2 / gamma leaves no room",
	  1000000, 350000, 100, 700, 2, 3 },
	{ "RTO / RTT below 2 / gamma leaves less than none",
	  300000, 200000, 100, 700, 2, 3 },
	{ "gamma 1, RTO = RTT: one window", 200000, 200000, 10, 1000, 0, 10 },
	{ "gamma 0.001 rounds down to the least",
	  200000, 200000, 100, 1, 0, 3 },
	{ "a window of one: 0.7 * 200", 200000, 1000, 1, 700, 0, 140 },
	{ "no window: the least", 200000, 1000, 0, 700, 0, 3 },
	{ "a huge window stops at the largest length",
	  1000000, 1000, 1000000, 700, 0, 32767 },
	{ "the longest timer and the largest window do not overflow",
	  0xffffffffU, 1, 0xffffffffU, 1000, 0, 32767 },
	{ "the longest timer over the longest round trip, half a window",
	  0xffffffffU, 0xffffffffU, 100, 500, 0, 49 },
	{ "four of the longest round trips do not wrap",
	  0xffffffffU, 0xffffffffU, 0xffffffffU, 1000, 4, 3 },
};

/* Equations (13) and (14). */
struct decay_case {
	const char *name;
	u32 avg_m, mdev_m, c1_pm, c2_pm;
	u32 new_avg_m, new_mdev_m;
};

static const struct decay_case decay_cases[] = {
	{ "worked example: C1 = 0.5, C2 = 0.25",
	  8438, 5388, 500, 250, 4219, 1347 },
	{ "factors of 1 keep both", 8438, 5388, 1000, 1000, 8438, 5388 },
	{ "factors of 0 forget both", 8438, 5388, 0, 0, 0, 0 },
	{ "the largest values do not overflow",
	  32767000, 32767000, 500, 250, 16383500, 8191750 },
	{ "nothing to decay before the first sample", 0, 0, 500, 250, 0, 0 },
};

/* The same length over and over, from some average: where does (4) end? */
struct constant_case {
	const char *name;
	u32 avg_m;
	u32 r;
	u32 floor, nearest, ceil;
};

static const struct constant_case constant_cases[] = {
	{ "from the first sample on it is exact", 0, 20, 20, 20, 20 },
	{ "from below, floor stays one segment short", 3000, 20, 19, 20, 20 },
	{ "from above, ceil stays one segment long", 40000, 20, 20, 20, 21 },
};

#endif /* _SELFTESTS_AVGDEV_CASES_H */
