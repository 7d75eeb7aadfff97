#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Loops over plain arrays, as fast as a C compiler makes them.

int64_t limits_sum(const int64_t *numbers, size_t count);
size_t limits_count_equal(const uint8_t *numbers, size_t count, uint8_t number);
// Numbers in lower ..< upper whose score is above a limit.
size_t limits_count_and(
    const uint8_t *numbers, const double *scores, size_t count, uint8_t lower, uint8_t upper, double score);

// Asks the Swift runtime so many times whether an executor, given by its two words, is the current one.
bool limits_is_current(uintptr_t identity, uintptr_t implementation, size_t times);
