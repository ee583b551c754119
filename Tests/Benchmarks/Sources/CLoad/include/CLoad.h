// A generator of HTTP load: one thread, many connections over loopback, one request on the way on each.

#ifndef ASSAY_CLOAD_H
#define ASSAY_CLOAD_H

#include <stddef.h>
#include <stdint.h>

/// What is sent: requests one behind the other in `bytes`, each as long as `lengths` says. Every connection has as many
/// of them, the first connection's first, and sends them in their order.
typedef struct {
    const uint8_t *bytes;
    const size_t *lengths;
    int connections;
    int each;
    /// Whether a connection begins anew when it has sent all of its requests; else it ends the measurement.
    int repeats;
} load_requests;

/// Sends requests to a port of 127.0.0.1, and waits for each reply before the next on the same connection.
///
/// Replies are expected to be of status 200 and to carry a Content-Length. Counts for that many milliseconds, or until
/// one of the connections has nothing left to send, and then waits for the replies that are still to come. Returns how
/// many replies came in a second, -1 when a connection fails or a reply is another one. `replies` is then how many came in
/// all, and `seconds` how long this thread used a processor for it.
double load_run(uint16_t port, load_requests requests, long milliseconds, long *replies, double *seconds);

#endif
