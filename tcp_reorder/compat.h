/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - every difference between the kernels we build for
 *
 * The REORDER_HAS_* macros come from Kbuild, which probes the headers of the
 * target kernel for the feature itself: version numbers lie on vendor kernels.
 * No other file of this project tests for a kernel.
 */
#ifndef _TCP_REORDER_COMPAT_H
#define _TCP_REORDER_COMPAT_H

#include <linux/types.h>

/*
 * Can a socket's tp->reordering decide when a hole counts as lost?  The RFC
 * 6675 code that reads it went away together with tp->lost_skb_hint; what is
 * left there is RACK, which no threshold can steer.
 */
static inline bool tcp_reorder_kernel_has_threshold(void)
{
#ifdef REORDER_HAS_DUPTHRESH
	return true;
#else
	return false;
#endif
}

#endif /* _TCP_REORDER_COMPAT_H */
