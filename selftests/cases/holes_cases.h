/* SPDX-License-Identifier: GPL-2.0 */
/*
 * holes_cases.h - what arriving data must leave of a table of holes
 *
 * Ranges are [start, end) in sequence space; a list ends at an empty one.
 */
#ifndef _SELFTESTS_HOLES_CASES_H
#define _SELFTESTS_HOLES_CASES_H

#define HOLES_MOST	6	/* entries of a list */

struct range {
	u32 start, end;
};

struct fill_case {
	const char *name;
	u32 capacity;			/* of the table, at most HOLES_MOST */
	struct range holes[HOLES_MOST];
	struct range arrived;
	struct range filled[HOLES_MOST];	/* reported, in this order */
	struct range left[HOLES_MOST];
};

static const struct fill_case fill_cases[] = {
	{ "data below every hole fills none", 6,
	  { { 100, 200 } }, { 50, 100 }, { }, { { 100, 200 } } },
	{ "data above every hole fills none", 6,
	  { { 100, 200 } }, { 200, 300 }, { }, { { 100, 200 } } },
	{ "data between two holes fills none", 6,
	  { { 100, 200 }, { 300, 400 } }, { 200, 300 }, { },
	  { { 100, 200 }, { 300, 400 } } },
	{ "an empty table has nothing to fill", 6, { }, { 0, 1000 }, { }, { } },
	{ "a whole hole goes away", 6,
	  { { 100, 200 }, { 300, 400 } }, { 100, 200 }, { { 100, 200 } },
	  { { 300, 400 } } },
	{ "the lower part: the upper one stays", 6,
	  { { 100, 200 } }, { 100, 150 }, { { 100, 150 } }, { { 150, 200 } } },
	{ "the upper part: the lower one stays", 6,
	  { { 100, 200 } }, { 150, 200 }, { { 150, 200 } }, { { 100, 150 } } },
	{ "the middle: both ends stay", 6,
	  { { 100, 200 } }, { 120, 150 }, { { 120, 150 } },
	  { { 100, 120 }, { 150, 200 } } },
	{ "the middle, no room to split: the upper end is lost", 1,
	  { { 100, 200 } }, { 120, 150 }, { { 120, 150 } }, { { 100, 120 } } },
	{ "several holes, lowest first, cut at both ends", 6,
	  { { 100, 200 }, { 300, 400 }, { 500, 600 }, { 700, 800 } },
	  { 150, 550 }, { { 150, 200 }, { 300, 400 }, { 500, 550 } },
	  { { 100, 150 }, { 550, 600 }, { 700, 800 } } },
	{ "data over everything empties the table", 6,
	  { { 100, 200 }, { 300, 400 }, { 500, 600 } }, { 0, 1000 },
	  { { 100, 200 }, { 300, 400 }, { 500, 600 } }, { } },
	{ "one byte", 6,
	  { { 100, 101 } }, { 100, 101 }, { { 100, 101 } }, { } },
	{ "a hole across 2^32, its middle", 6,
	  { { 0xffffff00U, 0x100 } }, { 0xffffffffU, 1 },
	  { { 0xffffffffU, 1 } },
	  { { 0xffffff00U, 0xffffffffU }, { 1, 0x100 } } },
	{ "holes on both sides of 2^32 keep their order", 6,
	  { { 0xffffff00U, 0xffffff80U }, { 0x10, 0x20 } },
	  { 0xffffff40U, 0x18 },
	  { { 0xffffff40U, 0xffffff80U }, { 0x10, 0x18 } },
	  { { 0xffffff00U, 0xffffff40U }, { 0x18, 0x20 } } },
	{ "a hole that ends at 2^32", 6,
	  { { 0xfffffff0U, 0 }, { 0x10, 0x20 } }, { 0xfffffff8U, 0 },
	  { { 0xfffffff8U, 0 } },
	  { { 0xfffffff0U, 0xfffffff8U }, { 0x10, 0x20 } } },
};

/* Which hole is the lowest that ends above a sequence number? */
struct find_case {
	const char *name;
	u32 seq;
	u32 index;
};

static const struct range find_holes[] = {
	{ 0xfffffe00U, 0xffffff00U }, { 0xffffff80U, 0x80 }, { 0x100, 0x200 },
};

static const struct find_case find_cases[] = {
	{ "below all", 0xfffffd00U, 0 },
	{ "the first byte of the lowest", 0xfffffe00U, 0 },
	{ "the last byte of the lowest", 0xfffffeffU, 0 },
	{ "the byte behind the lowest", 0xffffff00U, 1 },
	{ "inside the one across 2^32, before it", 0xffffffffU, 1 },
	{ "inside the one across 2^32, after it", 0x7f, 1 },
	{ "between the upper two", 0x80, 2 },
	{ "the last byte of the highest", 0x1ff, 2 },
	{ "behind all: the number of holes", 0x200, 3 },
};

#endif /* _SELFTESTS_HOLES_CASES_H */
