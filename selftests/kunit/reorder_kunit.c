// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of AVG-DEV and the table of holes, case by case
 *
 * A KUnit module, and through the stand-ins in selftests/unit/shim also an
 * ordinary program.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../../tcp_avgdev/avgdev_math.h"
#include "../../tcp_reorder/holes.h"
#include "../cases/avgdev_cases.h"
#include "../cases/holes_cases.h"

#define CASES(_table)							\
	static void describe_##_table(const struct _table##_case *row,	\
				      char *text)			\
	{								\
		snprintf(text, KUNIT_PARAM_DESC_SIZE, "%s", row->name);	\
	}								\
	KUNIT_ARRAY_PARAM(_table, _table##_cases, describe_##_table)

CASES(sample);
CASES(dupthresh);
CASES(bound);
CASES(decay);
CASES(constant);
CASES(fill);
CASES(find);

/* ------------------------------------------------------------------------
 * AVG-DEV
 */

static u32 to_q16(u32 thousandths)
{
	return (u32)div_u64(((u64)thousandths << 16) + 500, 1000);
}

static u32 from_q16(u32 q16)
{
	return (u32)(((u64)q16 * 1000 + (1 << 15)) >> 16);
}

static void expect_dupthresh(struct kunit *test,
			     const struct avgdev_estimate *e, u32 lambda_pm,
			     u32 floor, u32 nearest, u32 ceil)
{
	KUNIT_EXPECT_EQ(test, avgdev_dupthresh(e, lambda_pm, AVGDEV_FLOOR),
			floor);
	KUNIT_EXPECT_EQ(test, avgdev_dupthresh(e, lambda_pm, AVGDEV_NEAREST),
			nearest);
	KUNIT_EXPECT_EQ(test, avgdev_dupthresh(e, lambda_pm, AVGDEV_CEIL),
			ceil);
}

static void avgdev_sample_test(struct kunit *test)
{
	const struct sample_case *row = test->param_value;
	struct avgdev_estimate e = { to_q16(row->avg_m), to_q16(row->mdev_m) };

	avgdev_sample(&e, row->r, row->alpha_pm, row->beta_pm);
	KUNIT_EXPECT_EQ(test, from_q16(e.avg_q16), row->new_avg_m);
	KUNIT_EXPECT_EQ(test, from_q16(e.mdev_q16), row->new_mdev_m);
}

static void avgdev_dupthresh_test(struct kunit *test)
{
	const struct dupthresh_case *row = test->param_value;
	struct avgdev_estimate e = { to_q16(row->avg_m), to_q16(row->mdev_m) };

	expect_dupthresh(test, &e, row->lambda_pm, row->floor, row->nearest,
			 row->ceil);
}

static void avgdev_bound_test(struct kunit *test)
{
	const struct bound_case *row = test->param_value;

	KUNIT_EXPECT_EQ(test,
			avgdev_bound(row->rto_us, row->srtt_us, row->cwnd,
				     row->gamma_pm, row->rtts),
			row->bound);
}

static void avgdev_decay_test(struct kunit *test)
{
	const struct decay_case *row = test->param_value;
	struct avgdev_estimate e = { to_q16(row->avg_m), to_q16(row->mdev_m) };

	avgdev_decay(&e, row->c1_pm, row->c2_pm);
	KUNIT_EXPECT_EQ(test, from_q16(e.avg_q16), row->new_avg_m);
	KUNIT_EXPECT_EQ(test, from_q16(e.mdev_q16), row->new_mdev_m);
}

static void avgdev_constant_length_test(struct kunit *test)
{
	const struct constant_case *row = test->param_value;
	struct avgdev_estimate e = { to_q16(row->avg_m), 0 };
	int i;

	for (i = 0; i < 1000; i++)
		avgdev_sample(&e, row->r, 300, 300);
	expect_dupthresh(test, &e, 300, row->floor, row->nearest, row->ceil);
}

static struct kunit_case avgdev_tests[] = {
	KUNIT_CASE_PARAM(avgdev_sample_test, sample_gen_params),
	KUNIT_CASE_PARAM(avgdev_dupthresh_test, dupthresh_gen_params),
	KUNIT_CASE_PARAM(avgdev_bound_test, bound_gen_params),
	KUNIT_CASE_PARAM(avgdev_decay_test, decay_gen_params),
	KUNIT_CASE_PARAM(avgdev_constant_length_test, constant_gen_params),
	{}
};

static struct kunit_suite avgdev_suite = {
	.name = "avgdev_math",
	.test_cases = avgdev_tests,
};

/* ------------------------------------------------------------------------
 * Holes
 */

static bool range_is_empty(struct range r)
{
	return r.start == r.end;
}

static void add_above(struct kunit *test, struct tcp_reorder_holes *t,
		      struct range r)
{
	struct tcp_reorder_hole hole = {
		.start = r.start, .end = r.end, .rtx_ms = 7
	};

	KUNIT_ASSERT_TRUE(test, tcp_reorder_holes_insert(t, t->count, hole));
}

static void expect_range(struct kunit *test,
			 const struct tcp_reorder_hole *hole,
			 struct range wanted)
{
	KUNIT_EXPECT_EQ(test, hole->start, wanted.start);
	KUNIT_EXPECT_EQ(test, hole->end, wanted.end);
	KUNIT_EXPECT_EQ(test, hole->rtx_ms, 7U);
}

static void expect_hole(struct kunit *test, const struct tcp_reorder_holes *t,
			u32 i, struct range wanted)
{
	const struct tcp_reorder_hole *hole = tcp_reorder_holes_get(t, i);

	KUNIT_ASSERT_LT(test, i, t->count);
	expect_range(test, hole, wanted);
}

static void holes_fill_test(struct kunit *test)
{
	const struct fill_case *row = test->param_value;
	struct tcp_reorder_hole storage[HOLES_MOST] = { }, filled;
	struct tcp_reorder_holes t = {
		.at = storage, .capacity = row->capacity
	};
	u32 i;

	for (i = 0; !range_is_empty(row->holes[i]); i++)
		add_above(test, &t, row->holes[i]);

	for (i = 0; !range_is_empty(row->filled[i]); i++) {
		KUNIT_ASSERT_TRUE(test,
				  tcp_reorder_holes_fill(&t, row->arrived.start,
							 row->arrived.end,
							 &filled));
		expect_range(test, &filled, row->filled[i]);
	}
	KUNIT_EXPECT_FALSE(test,
			   tcp_reorder_holes_fill(&t, row->arrived.start,
						  row->arrived.end, &filled));

	for (i = 0; !range_is_empty(row->left[i]); i++)
		expect_hole(test, &t, i, row->left[i]);
	KUNIT_EXPECT_EQ(test, t.count, i);
}

static void holes_find_test(struct kunit *test)
{
	const struct find_case *row = test->param_value;
	struct tcp_reorder_hole storage[ARRAY_SIZE(find_holes)];
	struct tcp_reorder_holes t = {
		.at = storage, .capacity = ARRAY_SIZE(find_holes)
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(find_holes); i++)
		add_above(test, &t, find_holes[i]);
	KUNIT_EXPECT_EQ(test, tcp_reorder_holes_find(&t, row->seq), row->index);
}

static void holes_full_table_refuses_and_keeps_what_it_has(struct kunit *test)
{
	struct tcp_reorder_hole storage[2], more = { .start = 50, .end = 60 };
	struct tcp_reorder_holes t = { .at = storage, .capacity = 2 };

	add_above(test, &t, (struct range){ 10, 20 });
	add_above(test, &t, (struct range){ 30, 40 });
	KUNIT_EXPECT_FALSE(test, tcp_reorder_holes_insert(&t, 2, more));
	KUNIT_EXPECT_EQ(test, t.count, 2U);
	expect_hole(test, &t, 0, (struct range){ 10, 20 });
	expect_hole(test, &t, 1, (struct range){ 30, 40 });
}

static void holes_no_storage_refuses(struct kunit *test)
{
	struct tcp_reorder_hole hole = { .start = 10, .end = 20 };
	struct tcp_reorder_holes t = { };

	KUNIT_EXPECT_FALSE(test, tcp_reorder_holes_insert(&t, 0, hole));
	KUNIT_EXPECT_EQ(test, tcp_reorder_holes_find(&t, 0), 0U);
}

static void holes_insert_at_the_low_end_and_between(struct kunit *test)
{
	struct tcp_reorder_hole low = { 10, 20, 7 }, middle = { 50, 60, 7 };
	struct tcp_reorder_hole storage[4];
	struct tcp_reorder_holes t = { .at = storage, .capacity = 4 };

	add_above(test, &t, (struct range){ 30, 40 });
	add_above(test, &t, (struct range){ 70, 80 });
	KUNIT_ASSERT_TRUE(test, tcp_reorder_holes_insert(&t, 0, low));
	KUNIT_ASSERT_TRUE(test, tcp_reorder_holes_insert(&t, 2, middle));
	expect_hole(test, &t, 0, (struct range){ 10, 20 });
	expect_hole(test, &t, 1, (struct range){ 30, 40 });
	expect_hole(test, &t, 2, (struct range){ 50, 60 });
	expect_hole(test, &t, 3, (struct range){ 70, 80 });
}

/* Born at the high end, filled at the low end: four live holes, for ever. */
static void holes_float_through_a_small_table(struct kunit *test)
{
	struct tcp_reorder_hole storage[5], filled;
	struct tcp_reorder_holes t = { .at = storage, .capacity = 5 };
	u32 seq = 0xffffff00U, round, i;

	for (round = 0; round < 1000; round++) {
		u32 high = seq + round * 20;
		u32 low = high - 4 * 20;

		add_above(test, &t, (struct range){ high, high + 10 });
		if (round < 4)
			continue;
		KUNIT_ASSERT_TRUE(test,
				  tcp_reorder_holes_fill(&t, low, low + 10,
							 &filled));
		expect_range(test, &filled, (struct range){ low, low + 10 });
		KUNIT_ASSERT_EQ(test, t.count, 4U);
		KUNIT_ASSERT_LE(test, t.first + t.count, t.capacity);
		for (i = 0; i < 4; i++)
			expect_hole(test, &t, i,
				    (struct range){ low + 20 * (i + 1),
						    low + 20 * (i + 1) + 10 });
	}
}

static void holes_removing_the_last_one_rewinds(struct kunit *test)
{
	struct tcp_reorder_hole storage[3];
	struct tcp_reorder_holes t = { .at = storage, .capacity = 3 };

	add_above(test, &t, (struct range){ 10, 20 });
	add_above(test, &t, (struct range){ 30, 40 });
	tcp_reorder_holes_remove(&t, 0);
	KUNIT_EXPECT_EQ(test, t.first, 1U);
	tcp_reorder_holes_remove(&t, 0);
	KUNIT_EXPECT_EQ(test, t.count, 0U);
	KUNIT_EXPECT_EQ(test, t.first, 0U);
}

static struct kunit_case holes_tests[] = {
	KUNIT_CASE_PARAM(holes_fill_test, fill_gen_params),
	KUNIT_CASE_PARAM(holes_find_test, find_gen_params),
	KUNIT_CASE(holes_full_table_refuses_and_keeps_what_it_has),
	KUNIT_CASE(holes_no_storage_refuses),
	KUNIT_CASE(holes_insert_at_the_low_end_and_between),
	KUNIT_CASE(holes_float_through_a_small_table),
	KUNIT_CASE(holes_removing_the_last_one_rewinds),
	{}
};

static struct kunit_suite holes_suite = {
	.name = "tcp_reorder_holes",
	.test_cases = holes_tests,
};

kunit_test_suites(&avgdev_suite, &holes_suite);

MODULE_DESCRIPTION("KUnit tests of the arithmetic of tcp-reorder");
MODULE_AUTHOR("The tcp-reorder authors");
MODULE_LICENSE("GPL");
