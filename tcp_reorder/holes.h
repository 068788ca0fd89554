/* SPDX-License-Identifier: GPL-2.0 */
/*
 * holes.h - the holes in what the receiver has reported, as a sorted table
 *
 * A hole is a range of sequence space [start, end) below the highest SACKed
 * byte that has been neither SACKed nor cumulatively ACKed.  The table is
 * plain arithmetic on memory the caller owns, so that the same cases run in
 * the kernel's KUnit and in a user-space program.
 *
 * Holes are born at the high end and mostly die at the low end.  The live
 * entries therefore float in the array between @first and @first + @count, and
 * a removal moves the shorter side.  Look-up is a binary search.
 */
#ifndef _TCP_REORDER_HOLES_H
#define _TCP_REORDER_HOLES_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#endif

/**
 * struct tcp_reorder_hole - one hole
 * @start: first missing byte, sequence number
 * @end: first byte behind the hole, sequence number
 * @rtx_ms: when it was retransmitted, in ms, 0 = not yet
 */
struct tcp_reorder_hole {
	u32 start;
	u32 end;
	u32 rtx_ms;
};

/**
 * struct tcp_reorder_holes - the table
 * @at: storage for @capacity entries
 * @capacity: entries that fit
 * @first: index of the lowest live hole
 * @count: live holes
 */
struct tcp_reorder_holes {
	struct tcp_reorder_hole *at;
	u32 capacity;
	u32 first;
	u32 count;
};

/* a is below b in the sequence space modulo 2^32 */
static inline bool tcp_reorder_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/**
 * tcp_reorder_holes_find() - the lowest hole that ends above a sequence number
 * @t: table
 * @seq: sequence number
 *
 * Return: index from 0 (lowest hole) to @t->count (there is none).
 */
static inline u32 tcp_reorder_holes_find(const struct tcp_reorder_holes *t,
					 u32 seq)
{
	u32 low = 0, high = t->count;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (tcp_reorder_before(seq, t->at[t->first + mid].end))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/**
 * tcp_reorder_holes_get() - a live hole
 * @t: table
 * @i: index below @t->count, 0 = lowest
 *
 * Return: the hole.
 */
static inline struct tcp_reorder_hole *
tcp_reorder_holes_get(const struct tcp_reorder_holes *t, u32 i)
{
	return &t->at[t->first + i];
}

/**
 * tcp_reorder_holes_remove() - forget a hole
 * @t: table
 * @i: index below @t->count
 */
static inline void tcp_reorder_holes_remove(struct tcp_reorder_holes *t, u32 i)
{
	struct tcp_reorder_hole *h = tcp_reorder_holes_get(t, i);

	if (i < t->count / 2) {
		memmove(t->at + t->first + 1, t->at + t->first, i * sizeof(*h));
		t->first++;
	} else {
		memmove(h, h + 1, (t->count - i - 1) * sizeof(*h));
	}
	t->count--;
	if (!t->count)
		t->first = 0;
}

/**
 * tcp_reorder_holes_insert() - add a hole before index @i
 * @t: table
 * @i: index from 0 to @t->count, such that the order by sequence holds
 * @hole: the new hole
 *
 * Return: false if the table is full, which leaves it unchanged.
 */
static inline bool tcp_reorder_holes_insert(struct tcp_reorder_holes *t, u32 i,
					    struct tcp_reorder_hole hole)
{
	struct tcp_reorder_hole *h;

	if (t->count == t->capacity)
		return false;
	if (t->first + t->count == t->capacity) {
		memmove(t->at, t->at + t->first, t->count * sizeof(*h));
		t->first = 0;
	}
	h = tcp_reorder_holes_get(t, i);
	memmove(h + 1, h, (t->count - i) * sizeof(*h));
	*h = hole;
	t->count++;
	return true;
}

/**
 * tcp_reorder_holes_fill() - data has arrived: cut it out of the lowest hole
 * @t: table
 * @start: first byte that arrived
 * @end: first byte behind it, above @start
 * @filled: on true, the part of a hole that has just been filled
 *
 * Call it until it returns false: each call reports one hole, lowest first.
 * If a hole filled in its middle cannot be split because the table is full, the
 * upper remainder is forgotten.
 *
 * Return: false if no hole overlaps [@start, @end).
 */
static inline bool tcp_reorder_holes_fill(struct tcp_reorder_holes *t,
					  u32 start, u32 end,
					  struct tcp_reorder_hole *filled)
{
	u32 i = tcp_reorder_holes_find(t, start);
	struct tcp_reorder_hole *h;

	if (i == t->count)
		return false;
	h = tcp_reorder_holes_get(t, i);
	if (!tcp_reorder_before(h->start, end))
		return false;

	*filled = *h;
	if (tcp_reorder_before(h->start, start))
		filled->start = start;
	if (tcp_reorder_before(end, h->end))
		filled->end = end;

	if (filled->start == h->start && filled->end == h->end) {
		tcp_reorder_holes_remove(t, i);
	} else if (filled->start == h->start) {
		h->start = filled->end;
	} else if (filled->end == h->end) {
		h->end = filled->start;
	} else {
		struct tcp_reorder_hole above = *h;

		above.start = filled->end;
		h->end = filled->start;
		tcp_reorder_holes_insert(t, i + 1, above);
	}
	return true;
}

#endif /* _TCP_REORDER_HOLES_H */
