#ifndef CCOUNTERS_H
#define CCOUNTERS_H

#include <stdbool.h>
#include <stdint.h>

// Opens a counter of the instructions that the calling thread runs outside the kernel; -1 where that is not allowed.
int counters_open(void);
// The instructions counted so far.
uint64_t counters_read(int counter);

// Whether the process runs under valgrind.
bool counters_valgrind(void);
// Counts what the calling thread runs from here on, under callgrind.
void counters_callgrind_begin(void);
// Stop counting for a while, and go on.
void counters_callgrind_pause(void);
void counters_callgrind_resume(void);
// Stops counting and writes the count to a file, with a name.
void counters_callgrind_end(const char *name);

#endif
