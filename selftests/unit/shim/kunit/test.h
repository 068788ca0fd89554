/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of KUnit that our suites use, for an ordinary program: same names,
 * results as TAP.  An assertion that fails ends the test, an expectation does
 * not.
 */
#ifndef _SELFTESTS_SHIM_KUNIT_H
#define _SELFTESTS_SHIM_KUNIT_H

#include <linux/types.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline s64 div_s64(s64 dividend, s32 divisor)
{
	return dividend / divisor;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

struct kunit {
	const void *param_value;
	bool failed;
	jmp_buf end;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *previous, char *text);
};

struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
};

#define KUNIT_PARAM_DESC_SIZE 128
#define KUNIT_CASE(_run) { .run_case = (_run), .name = #_run }
#define KUNIT_CASE_PARAM(_run, _params) \
	{ .run_case = (_run), .name = #_run, .generate_params = (_params) }

#define KUNIT_ARRAY_PARAM(_name, _array, _describe)			\
	static const void *_name##_gen_params(const void *previous,	\
					      char *text)		\
	{								\
		typeof(_array) *all = &(_array);			\
		typeof(&(*all)[0]) row = previous;			\
									\
		row = row ? row + 1 : *all;				\
		if (row == *all + ARRAY_SIZE(*all))			\
			return NULL;					\
		_describe(row, text);					\
		return row;						\
	}								\
	struct kunit_case

#define kunit_compare(_test, _left, _op, _right, _fatal) do {		\
	long long left_ = (_left), right_ = (_right);			\
	struct kunit *test_ = (_test);					\
									\
	if (left_ _op right_)						\
		break;							\
	printf("# %s:%d: %s is %lld, wanted " #_op " %lld\n", __FILE__,	\
	       __LINE__, #_left, left_, right_);			\
	test_->failed = true;						\
	if (_fatal)							\
		longjmp(test_->end, 1);					\
} while (0)

#define KUNIT_EXPECT_EQ(test, a, b)	kunit_compare(test, a, ==, b, false)
#define KUNIT_EXPECT_FALSE(test, a)	kunit_compare(test, a, ==, false, false)
#define KUNIT_ASSERT_EQ(test, a, b)	kunit_compare(test, a, ==, b, true)
#define KUNIT_ASSERT_LE(test, a, b)	kunit_compare(test, a, <=, b, true)
#define KUNIT_ASSERT_LT(test, a, b)	kunit_compare(test, a, <, b, true)
#define KUNIT_ASSERT_TRUE(test, a)	kunit_compare(test, a, ==, true, true)

#define kunit_test_suites(...) \
	struct kunit_suite *kunit_suites[] = { __VA_ARGS__, NULL }

extern struct kunit_suite *kunit_suites[];

#endif /* _SELFTESTS_SHIM_KUNIT_H */
