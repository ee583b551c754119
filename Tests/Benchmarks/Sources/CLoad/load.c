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
    size_t received;
    char reply[reply_limit + 1];
};

static long now_in_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/// How long a reply is as a whole: 0 when that cannot be told yet, -1 when it is not one that is expected.
static long reply_length(const struct connection *connection) {
    const char *end = strstr(connection->reply, "\r\n\r\n");
    if (end == NULL) return connection->received < reply_limit ? 0 : -1;
    if (strncmp(connection->reply, "HTTP/1.1 200 ", 13) != 0) return -1;
    const char *field = strcasestr(connection->reply, "\r\ncontent-length:");
    if (field == NULL || field > end) return -1;
    long length = end + 4 - connection->reply + strtol(field + strlen("\r\ncontent-length:"), NULL, 10);
    return length <= reply_limit ? length : -1;
}

static bool send_request(const struct connection *connection, const uint8_t *request, size_t count) {
    return send(connection->socket, request, count, MSG_NOSIGNAL) == (ssize_t)count;
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

static long exchange(
    struct connection *all, int connections, int events, const uint8_t *request, size_t count, long milliseconds) {
    long replies = 0;
    int waiting = 0;
    for (int index = 0; index < connections; index++, waiting++) {
        if (!send_request(&all[index], request, count)) return -1;
    }
    long end = now_in_milliseconds() + milliseconds;
    while (waiting > 0) {
        struct epoll_event ready[connection_limit];
        int number = epoll_wait(events, ready, connection_limit, 5000);
        if (number <= 0) return -1;
        bool over = now_in_milliseconds() >= end;
        for (int index = 0; index < number; index++) {
            struct connection *connection = ready[index].data.ptr;
            int outcome = receive(connection);
            if (outcome < 0) return -1;
            if (outcome == 0) continue;
            if (over) {
                waiting--;
            } else {
                replies++;
                if (!send_request(connection, request, count)) return -1;
            }
        }
    }
    return replies;
}

long load_run(uint16_t port, const uint8_t *request, size_t request_count, int connections, long milliseconds) {
    if (connections < 1 || connections > connection_limit) return -1;
    struct connection *all = calloc((size_t)connections, sizeof *all);
    int events = epoll_create1(EPOLL_CLOEXEC);
    if (all == NULL || events < 0) return -1;
    bool is_open = true;
    int opened = 0;
    while (is_open && opened < connections) is_open = open_connection(&all[opened++], port, events);
    long replies = is_open ? exchange(all, connections, events, request, request_count, milliseconds) : -1;
    for (int index = 0; index < opened; index++) {
        if (all[index].socket >= 0) close(all[index].socket);
    }
    close(events);
    free(all);
    return replies;
}

#else

long load_run(uint16_t port, const uint8_t *request, size_t request_count, int connections, long milliseconds) {
    return -1;
}

#endif
