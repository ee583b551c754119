#define _GNU_SOURCE
#include "CLoad.h"

#if defined(__linux__)

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { connection_limit = 256, reply_limit = 8192 };

struct connection {
    int socket;
    const uint8_t *next;
    int sent;
    size_t received;
    char reply[reply_limit + 1];
};

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/// How long a reply is as a whole: 0 when that cannot be told yet, -1 when it is not one that is expected.
static long reply_length(const struct connection *connection) {
    const char *end = strstr(connection->reply, "\r\n\r\n");
    if (end == NULL) return connection->received < reply_limit ? 0 : -1;
    if (strncmp(connection->reply, "HTTP/1.1 204 ", 13) == 0) return end + 4 - connection->reply;
    if (strncmp(connection->reply, "HTTP/1.1 200 ", 13) != 0) return -1;
    const char *field = strcasestr(connection->reply, "\r\ncontent-length:");
    if (field == NULL || field > end) return -1;
    long length = end + 4 - connection->reply + strtol(field + strlen("\r\ncontent-length:"), NULL, 10);
    return length <= reply_limit ? length : -1;
}

/// Puts a connection before the first of its requests.
static void rewind_requests(struct connection *connection, const load_requests *requests, int index) {
    connection->sent = 0;
    connection->next = requests->bytes;
    for (long before = 0; before < (long)index * requests->each; before++) {
        connection->next += requests->lengths[before];
    }
}

/// Sends a connection's next request; 0 when there is none.
static int send_request(struct connection *connection, const load_requests *requests, int index) {
    if (connection->sent == requests->each) {
        if (!requests->repeats) return 0;
        rewind_requests(connection, requests, index);
    }
    size_t count = requests->lengths[(long)index * requests->each + connection->sent];
    if (send(connection->socket, connection->next, count, MSG_NOSIGNAL) != (ssize_t)count) return -1;
    connection->next += count;
    connection->sent++;
    return 1;
}

/// Takes what has come in; 1 for a whole reply, 0 for a part of one, -1 for a failure.
static int receive(struct connection *connection) {
    ssize_t count = recv(
        connection->socket, connection->reply + connection->received, reply_limit - connection->received, 0);
    if (count <= 0) return -1;
    connection->received += (size_t)count;
    connection->reply[connection->received] = 0;
    long length = reply_length(connection);
    if (length < 0) return -1;
    if (length == 0 || (long)connection->received < length) return 0;
    connection->received = 0;
    return 1;
}

static bool open_connection(struct connection *connection, uint16_t port, int events) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection->received = 0;
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) return false;
    int yes = 1;
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    return connect(connection->socket, (struct sockaddr *)&address, sizeof address) == 0
        && epoll_ctl(events, EPOLL_CTL_ADD, connection->socket, &event) == 0;
}

static double now_in_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

static double exchange(
    struct connection *all, int events, const load_requests *requests, long milliseconds, long *whole) {
    long replies = 0;
    int waiting = 0;
    double start = now_in_seconds();
    double limit = start + (double)milliseconds / 1e3;
    double end = 0;
    for (int index = 0; index < requests->connections; index++, waiting++) {
        if (send_request(&all[index], requests, index) != 1) return -1;
    }
    while (waiting > 0) {
        struct epoll_event ready[connection_limit];
        int number = epoll_wait(events, ready, connection_limit, 5000);
        if (number <= 0) return -1;
        if (end == 0 && now_in_seconds() >= limit) end = now_in_seconds();
        for (int position = 0; position < number; position++) {
            struct connection *connection = ready[position].data.ptr;
            int outcome = receive(connection);
            if (outcome < 0) return -1;
            if (outcome == 0) continue;
            ++*whole;
            if (end == 0) replies++;
            int sent = end == 0 ? send_request(connection, requests, (int)(connection - all)) : 0;
            if (sent < 0) return -1;
            if (sent > 0) continue;
            waiting--;
            if (end == 0) end = now_in_seconds();
        }
    }
    return (double)replies / (end - start);
}

double load_run(uint16_t port, load_requests requests, long milliseconds, long *replies, double *seconds) {
    double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    *replies = 0;
    int connections = requests.connections;
    if (connections < 1 || connections > connection_limit || requests.each < 1) return -1;
    struct connection *all = calloc((size_t)connections, sizeof *all);
    int events = epoll_create1(EPOLL_CLOEXEC);
    if (all == NULL || events < 0) return -1;
    bool is_open = true;
    int opened = 0;
    while (is_open && opened < connections) {
        rewind_requests(&all[opened], &requests, opened);
        is_open = open_connection(&all[opened++], port, events);
    }
    double rate = is_open ? exchange(all, events, &requests, milliseconds, replies) : -1;
    for (int index = 0; index < opened; index++) {
        if (all[index].socket >= 0) close(all[index].socket);
    }
    close(events);
    free(all);
    *seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
    return rate;
}

#else

double load_run(uint16_t port, load_requests requests, long milliseconds, long *replies, double *seconds) {
    return -1;
}

#endif
