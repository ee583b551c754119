// Counts the allocations of the whole process, those of Swift, libc and OpenSSL alike.
//
// The program's own malloc, calloc, realloc and their like take the place of glibc's, count, and call glibc's. Memory that
// is given back is not counted.

#ifndef ASSAY_CALLOCATIONS_H
#define ASSAY_CALLOCATIONS_H

/// Begins to count at zero.
void allocations_start(void);

/// Stops counting; returns how many allocations there were, -1 where they cannot be counted.
long allocations_stop(void);

#endif
