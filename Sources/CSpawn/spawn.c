#define _GNU_SOURCE
#include "CSpawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

// Marks all descriptors from 3 on, so that none of them survives the exec.
static void close_others(void) {
#if defined(__linux__) && defined(SYS_close_range)
    // 4 is CLOSE_RANGE_CLOEXEC.
    if (syscall(SYS_close_range, 3U, ~0U, 4U) == 0) return;
#endif
    struct rlimit limit;
    int last = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < 1 << 20 ? (int)limit.rlim_max : 1 << 20;
    for (int descriptor = 3; descriptor < last; descriptor++) {
        int flags = fcntl(descriptor, F_GETFD);
        if (flags >= 0) fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC);
    }
}

// Whether a file begins with `#!`: its interpreter opens it again by the descriptor, which so has to survive the exec.
static int is_script(int descriptor) {
    char start[2];
    return pread(descriptor, start, 2, 0) == 2 && start[0] == '#' && start[1] == '!';
}

// Only what is safe after a fork of a process with many threads.
static int become(const struct assay_child *child, int input, pid_t parent) {
    if (setsid() < 0) return errno;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(input, 0) < 0 || dup2(child->output, 1) < 0 || dup2(child->output, 2) < 0) return errno;
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    umask(077);
    if (child->has_user) {
        if (setgroups(child->group_count, child->groups) != 0) return errno;
        if (setgid(child->group) != 0) return errno;
        if (setuid(child->user) != 0) return errno;
    }
    if (chdir(child->directory) != 0) return errno;
#ifdef __linux__
    // After the change of the user, which takes it back.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
    if (getppid() != parent) return ECHILD;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
#endif
    close_others();
#ifdef __linux__
    if (child->executable >= 0) {
        if (is_script(child->executable)) fcntl(child->executable, F_SETFD, 0);
        fexecve(child->executable, child->arguments, child->environment);
        return errno;
    }
#endif
    execve(child->path, child->arguments, child->environment);
    return errno;
}

int assay_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

int assay_spawn(const struct assay_child *child, pid_t *pid) {
    int report[2];
    if (assay_pipe(report) != 0) return errno;
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0) {
        int error = errno;
        close(report[0]);
        close(report[1]);
        return error;
    }
    pid_t parent = getpid();
    // No signal handler of ours runs in the child.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t made = fork();
    if (made == 0) {
        int error = become(child, input, parent);
        ssize_t written = write(report[1], &error, sizeof error);
        (void)written;
        _exit(127);
    }
    int error = made < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(input);
    close(report[1]);
    if (made > 0) {
        // The pipe is closed by the exec; before that it has the error.
        ssize_t count;
        do count = read(report[0], &error, sizeof error);
        while (count < 0 && errno == EINTR);
        if (count != sizeof error) error = 0;
        if (error != 0) waitpid(made, NULL, 0);
    }
    close(report[0]);
    if (error == 0) *pid = made;
    return error;
}

int assay_wait(pid_t pid) {
    siginfo_t info;
    int result;
    do result = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -1;
    if (info.si_code == CLD_EXITED) return (info.si_status & 0xFF) << 8;
    return info.si_status & 0x7F;
}

void assay_reap(pid_t pid) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
}

int assay_kill(pid_t pid, int signal) { return kill(-pid, signal); }

int assay_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return -1;
    // Both before the connection, which does not wait for a process that accepts none.
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0 || fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0 ||
        connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

ssize_t assay_send(int socket, const void *bytes, size_t count) {
    ssize_t sent;
    do sent = send(socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t assay_receive(int socket, void *bytes, size_t count) {
    ssize_t received;
    do received = recv(socket, bytes, count, MSG_DONTWAIT);
    while (received < 0 && errno == EINTR);
    if (received >= 0) return received;
    return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : 0;
}

int assay_poll(int socket, int pipe, int wanted, int milliseconds) {
    struct pollfd files[2] = {
        {.fd = socket, .events = (short)((wanted & 1 ? POLLIN : 0) | (wanted & 4 ? POLLOUT : 0))},
        {.fd = pipe, .events = POLLIN}};
    int count = poll(files, 2, milliseconds);
    if (count <= 0) return 0;
    int events = 0;
    if (files[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) events |= 1;
    if (files[0].revents & POLLOUT) events |= 4;
    if (files[1].revents) events |= 2;
    return events;
}

int assay_poll_briefly(int socket, long microseconds) {
    struct pollfd file = {.fd = socket, .events = POLLIN};
#ifdef __linux__
    struct timespec time = {.tv_sec = microseconds / 1000000, .tv_nsec = (microseconds % 1000000) * 1000};
    return ppoll(&file, 1, &time, NULL) > 0;
#else
    return poll(&file, 1, (int)((microseconds + 999) / 1000)) > 0;
#endif
}

ssize_t assay_write(int pipe, const void *bytes, size_t count) { return write(pipe, bytes, count); }

void assay_drain(int pipe) {
    char bytes[256];
    ssize_t count = read(pipe, bytes, sizeof bytes);
    (void)count;
}

void assay_shut_down(int socket) { shutdown(socket, SHUT_RDWR); }

int assay_close(int descriptor) { return close(descriptor); }
