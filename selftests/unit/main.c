// SPDX-License-Identifier: GPL-2.0
/* Runs the KUnit suites as an ordinary program; TAP on stdout, exit 0 or 1. */
#include <kunit/test.h>

static unsigned int results, failures;

static void run(const struct kunit_case *c, const void *param, const char *text)
{
	struct kunit test = { .param_value = param };

	if (!setjmp(test.end))
		c->run_case(&test);
	failures += test.failed;
	printf("%sok %u - %s%s%s\n", test.failed ? "not " : "", ++results,
	       c->name, *text ? ": " : "", text);
}

static void run_with_params(const struct kunit_case *c)
{
	char text[KUNIT_PARAM_DESC_SIZE];
	const void *param = c->generate_params(NULL, text);

	for (; param; param = c->generate_params(param, text))
		run(c, param, text);
}

int main(void)
{
	struct kunit_suite **suite;
	const struct kunit_case *c;

	puts("TAP version 13");
	for (suite = kunit_suites; *suite; suite++) {
		for (c = (*suite)->test_cases; c->run_case; c++) {
			if (c->generate_params)
				run_with_params(c);
			else
				run(c, NULL, "");
		}
	}
	printf("1..%u\n", results);
	return failures ? 1 : 0;
}
