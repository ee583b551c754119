// What the system offers a process for itself, and Swift cannot call: functions with variable arguments.

#ifndef ASSAY_CPROCESS_SHIM_H
#define ASSAY_CPROCESS_SHIM_H

// Tells whether this is glibc.
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>

// Gives free memory of the heap back to the system (malloc_trim(3)). Returns 1 if there was some.
static inline int assay_trim_heap(void) { return malloc_trim(0); }
#endif

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Whether memory of the process may be dumped and traced (PR_SET_DUMPABLE of prctl(2)): 1 or 0. Returns 0, or -1 with errno.
static inline int assay_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }
// PR_GET_DUMPABLE.
static inline int assay_get_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

// How many processors the process is bound to (sched_getaffinity(2)); 0 if there are more than 8192 of them.
static inline int assay_usable_processors(void) {
    unsigned long set[1024 / sizeof(unsigned long)] = {0};
    long size = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    int count = 0;
    for (long i = 0; i < size / (long)sizeof set[0]; i++) count += __builtin_popcountl(set[i]);
    return count;
}
#endif

#endif
