// Starts a child process with nothing of ours but what it is given.

#ifndef ASSAY_CSPAWN_H
#define ASSAY_CSPAWN_H

#include <stddef.h>
#include <sys/types.h>

struct assay_child {
    // The absolute path of the executable.
    const char *path;
    // An open descriptor of the executable, which is executed in place of the path, whatever is at the path by now; -1 for the path.
    int executable;
    // Both end with NULL.
    char *const *arguments;
    char *const *environment;
    // The descriptor that becomes the standard output and the standard error of the child.
    int output;
    // The working directory.
    const char *directory;
    // Whether the child runs as another user; groups are its supplementary groups.
    int has_user;
    uid_t user;
    gid_t group;
    const gid_t *groups;
    size_t group_count;
};

// Makes a pipe that no child gets. Returns 0, or -1 with errno.
int assay_pipe(int ends[2]);

// Starts the child in a session of its own. It is killed when the calling thread ends before it. Returns 0, or an error number; then
// there is no child.
int assay_spawn(const struct assay_child *child, pid_t *pid);

// Waits until the child ends. Returns its status as of waitpid(2), or -1 with errno. The child stays a zombie until assay_reap: its number
// is not given to another process.
int assay_wait(pid_t pid);
void assay_reap(pid_t pid);

// Sends a signal to the child and to all processes of its session that stay in its group. Returns 0, or -1 with errno.
int assay_kill(pid_t pid, int signal);

// Kills what a child left behind outside of its group, on Linux: processes of its session, and those that were started with an entry of the
// environment, `NAME=VALUE`, which is the child's alone. Call it before assay_reap, as long as the number is the child's.
void assay_end_left(pid_t leader, const char *entry);

// Removes a folder with all that is in it, and follows no links. Returns 0, or -1 with errno. It blocks as long as that takes.
int assay_remove_folder(const char *path);

// Connects to a Unix socket. Returns a descriptor that does not block and that no child gets, or -1 with errno.
int assay_connect(const char *path);

// Sends or receives what is possible at once. Both return the number of bytes; -1 when nothing is possible now. The first also returns -1
// when the connection is lost, and the second 0.
ssize_t assay_send(int socket, const void *bytes, size_t count);
ssize_t assay_receive(int socket, void *bytes, size_t count);

// Waits until a pipe can be read or the socket is hung up, and, as asked, until the socket can be read (1) or written (4). A negative
// descriptor or time is none. Returns the sum of 1, also for a hangup, 2 for the pipe, and 4.
int assay_poll(int socket, int pipe, int wanted, int milliseconds);

// Waits for a moment until a socket can be read or is hung up; 0 when the time is over.
int assay_poll_briefly(int socket, long microseconds);

ssize_t assay_write(int pipe, const void *bytes, size_t count);
void assay_drain(int pipe);
void assay_shut_down(int socket);
int assay_close(int descriptor);

#endif
