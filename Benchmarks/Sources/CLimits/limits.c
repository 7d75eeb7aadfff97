#include "CLimits.h"

#include <string.h>

int64_t limits_sum(const int64_t *numbers, size_t count) {
    int64_t sum = 0;
    for (size_t index = 0; index < count; index++) sum += numbers[index];
    return sum;
}

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef int8_t signs __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(128)));
typedef int64_t numbers __attribute__((vector_size(128)));

size_t limits_count_equal(const uint8_t *values, size_t count, uint8_t value) {
    size_t sum = 0;
    size_t start = 0;
    while (start + 16 <= count) {
        // Each of 16 places counts as far as a byte does.
        bytes counts = {0};
        for (size_t row = 0; row < 255 && start + 16 <= count; row++, start += 16) {
            bytes read;
            memcpy(&read, values + start, 16);
            counts -= (bytes)(read == value);
        }
        for (size_t place = 0; place < 16; place++) sum += counts[place];
    }
    for (; start < count; start++) sum += values[start] == value;
    return sum;
}

size_t limits_count_and(
    const uint8_t *values, const double *scores, size_t count, uint8_t lower, uint8_t upper, double score) {
    const uint8_t width = upper - lower;
    numbers counts = {0};
    size_t start = 0;
    for (; start + 16 <= count; start += 16) {
        bytes read;
        doubles above;
        memcpy(&read, values + start, sizeof read);
        memcpy(&above, scores + start, sizeof above);
        signs inRange = (signs)((bytes)(read - lower) < width);
        counts -= __builtin_convertvector(inRange, numbers) & (numbers)(above > score);
    }
    size_t sum = 0;
    for (size_t place = 0; place < 16; place++) sum += (size_t)counts[place];
    for (; start < count; start++) sum += (uint8_t)(values[start] - lower) < width && scores[start] > score;
    return sum;
}

typedef struct {
    uintptr_t identity;
    uintptr_t implementation;
} executor;

// The standard library declares it to Swift with a type that cannot be spelled there.
__attribute__((swiftcall)) extern bool swift_task_isCurrentExecutor(executor executor);

bool limits_is_current(uintptr_t identity, uintptr_t implementation, size_t times) {
    const executor asked = {identity, implementation};
    bool isCurrent = true;
    for (size_t time = 0; time < times; time++) isCurrent &= swift_task_isCurrentExecutor(asked);
    return isCurrent;
}
