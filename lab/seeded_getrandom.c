// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into User Mode Linux: getrandom(), from which the guest takes all its randomness, becomes a sequence
 * that depends on LAB_SEED alone.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

ssize_t getrandom(void *buffer, size_t length, unsigned int flags);

/* SplitMix64: each state gives a well mixed word, also for seeds that are close to each other. */
static uint64_t next_word(void)
{
	static uint64_t state;
	static int seeded;
	uint64_t word;

	if (!seeded) {
		const char *seed = getenv("LAB_SEED");

		state = seed ? strtoull(seed, NULL, 0) : 0;
		seeded = 1;
	}
	word = state += 0x9e3779b97f4a7c15u;
	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
	word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
	return word ^ (word >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	char *to = buffer;

	(void)flags;
	for (size_t done = 0; done < length; done += sizeof(uint64_t)) {
		uint64_t word = next_word();
		size_t left = length - done;

		memcpy(to + done, &word, left < sizeof(word) ? left : sizeof(word));
	}
	return length;
}
