#define _GNU_SOURCE
#include "CSpawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>

// Whether a process, by its folder in /proc, is alive; its session is told then.
static int is_alive(int process, pid_t *session) {
    int file = openat(process, "stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[512];
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return 0;
    text[count] = 0;
    // The name of the program is in parentheses, and may have some itself.
    const char *rest = strrchr(text, ')');
    char state;
    int parent, group, number;
    if (rest == NULL || sscanf(rest + 1, " %c %d %d %d", &state, &parent, &group, &number) != 4) return 0;
    *session = number;
    return state != 'Z' && state != 'X';
}

// Whether the environment that a process was started with has an entry.
static int has_entry(int process, const char *entry) {
    int file = openat(process, "environ", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    size_t length = strlen(entry), matched = 0;
    int differs = 0, found = 0;
    char bytes[4096];
    ssize_t count;
    while (!found && (count = read(file, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < count && !found; i++) {
            if (bytes[i] == 0) {
                found = !differs && matched == length;
                matched = 0;
                differs = 0;
            } else if (!differs && matched < length && bytes[i] == entry[matched]) {
                matched++;
            } else {
                differs = 1;
            }
        }
    }
    close(file);
    return found;
}

// Kills what is left once; returns how many processes were alive.
static int kill_left(pid_t leader, const char *entry) {
    DIR *processes = opendir("/proc");
    if (processes == NULL) return 0;
    int alive = 0;
    struct dirent *found;
    while ((found = readdir(processes)) != NULL) {
        char *end;
        long pid = strtol(found->d_name, &end, 10);
        if (*end != 0 || pid <= 1 || pid == leader || pid == getpid()) continue;
        int process = openat(dirfd(processes), found->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (process < 0) continue;
        pid_t session;
        if (is_alive(process, &session) && (session == leader || has_entry(process, entry))) {
            alive++;
            // The folder names the process, also if its number was given to another one meanwhile.
            if (syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0) != 0 && errno == ENOSYS)
                kill((pid_t)pid, SIGKILL);
            // It is our child when we are the first process of a container.
            if (getpid() == 1) waitpid((pid_t)pid, NULL, 0);
        }
        close(process);
    }
    closedir(processes);
    return alive;
}
#endif

void assay_end_left(pid_t leader, const char *entry) {
#ifdef __linux__
    // What is killed may have started something in between.
    for (int round = 0; round < 100 && kill_left(leader, entry) > 0; round++) usleep(1000);
#else
    (void)leader;
    (void)entry;
#endif
}

// The deepest folder that is emptied in its place; each level has an open descriptor.
enum { deepest = 32 };

// Removes what is in a folder. Folders that are too deep are moved to the top, with a number, for the next round.
static void empty_folder(int folder, int top, int depth, unsigned *moved) {
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return;
    DIR *entries = fdopendir(copy);
    if (entries == NULL) {
        close(copy);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(folder, name, 0) == 0) continue;
        int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        // root needs no rights, and does not follow what may be a link by now.
        if (inner < 0 && errno == EACCES && geteuid() != 0 && fchmodat(folder, name, 0700, 0) == 0)
            inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0) continue;
        if (depth < deepest) {
            if (geteuid() != 0) fchmod(inner, 0700);
            empty_folder(inner, top, depth + 1, moved);
            unlinkat(folder, name, AT_REMOVEDIR);
        } else {
            char other[32];
            snprintf(other, sizeof other, "deep-%u", ++*moved);
            renameat(folder, name, top, other);
        }
        close(inner);
    }
    closedir(entries);
}

int assay_remove_folder(const char *path) {
    unsigned moved = 0;
    // A plugin's folders are as deep as it made them, but it makes no new ones.
    for (int round = 0; round < 1000; round++) {
        unsigned before = moved;
        int top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (top < 0) return errno == ENOENT ? 0 : -1;
        empty_folder(top, top, 0, &moved);
        close(top);
        if (rmdir(path) == 0) return 0;
        if (round > 0 && moved == before) return -1;
    }
    return -1;
}
