// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into User Mode Linux: getrandom(), from which the guest takes all
 * its randomness, becomes a sequence that depends on LAB_SEED alone.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* SplitMix64: well mixed words also from seeds that are close to each other. */
static unsigned long long next_word(void)
{
	static unsigned long long state;
	static int seeded;
	unsigned long long word;

	if (!seeded) {
		const char *seed = getenv("LAB_SEED");

		state = seed ? strtoull(seed, NULL, 0) : 0;
		seeded = 1;
	}
	state += 0x9e3779b97f4a7c15u;
	word = state;
	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
	word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
	return word ^ (word >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	char *to = buffer;

	(void)flags;
	for (size_t done = 0; done < length; done += sizeof(long long)) {
		unsigned long long word = next_word();
		size_t left = length - done;

		memcpy(to + done, &word,
		       left < sizeof(word) ? left : sizeof(word));
	}
	return length;
}
