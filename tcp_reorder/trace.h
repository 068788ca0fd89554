/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trace.h - the engine's tracepoints, /sys/kernel/tracing/events/tcp_reorder
 *
 * Events fire per reordering event, not per packet.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_reorder

#if !defined(_TCP_REORDER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TCP_REORDER_TRACE_H

#include <linux/tracepoint.h>
#include <net/inet_sock.h>

/* A late segment has arrived: first byte, length N, and was it sent twice? */
TRACE_EVENT(tcp_reorder_sample,
	    TP_PROTO(const struct sock *sk, u32 seq, u32 length, bool false_fr),
	    TP_ARGS(sk, seq, length, false_fr),
	    TP_STRUCT__entry(__field(u16, sport)
			     __field(u16, dport)
			     __field(u32, seq)
			     __field(u32, length)
			     __field(bool, false_fr)),
	    TP_fast_assign(__entry->sport = ntohs(inet_sk(sk)->inet_sport);
			   __entry->dport = ntohs(inet_sk(sk)->inet_dport);
			   __entry->seq = seq;
			   __entry->length = length;
			   __entry->false_fr = false_fr;),
	    TP_printk("sport=%u dport=%u seq=%u length=%u false_fr=%d",
		      __entry->sport, __entry->dport, __entry->seq,
		      __entry->length, __entry->false_fr)
);

DECLARE_EVENT_CLASS(tcp_reorder_change,
		    TP_PROTO(const struct sock *sk, u32 old, u32 new),
		    TP_ARGS(sk, old, new),
		    TP_STRUCT__entry(__field(u16, sport)
				     __field(u16, dport)
				     __field(u32, old)
				     __field(u32, new)),
		    TP_fast_assign(__entry->sport =
					ntohs(inet_sk(sk)->inet_sport);
				   __entry->dport =
					ntohs(inet_sk(sk)->inet_dport);
				   __entry->old = old;
				   __entry->new = new;),
		    TP_printk("sport=%u dport=%u old=%u new=%u",
			      __entry->sport, __entry->dport,
			      __entry->old, __entry->new)
);

/* The threshold changed; old and new in segments. */
DEFINE_EVENT(tcp_reorder_change, tcp_reorder_threshold,
	     TP_PROTO(const struct sock *sk, u32 old, u32 new),
	     TP_ARGS(sk, old, new)
);

/* A reduction is undone; the window then and the one to come back to. */
DEFINE_EVENT(tcp_reorder_change, tcp_reorder_undo,
	     TP_PROTO(const struct sock *sk, u32 old, u32 new),
	     TP_ARGS(sk, old, new)
);

#endif /* _TCP_REORDER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
