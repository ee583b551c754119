// A generator of HTTP load: one thread, many connections over loopback, one request on the way on each.

#ifndef ASSAY_CLOAD_H
#define ASSAY_CLOAD_H

#include <stddef.h>
#include <stdint.h>

/// Sends one request again and again to a port of 127.0.0.1, and waits for each reply before the next.
///
/// Replies are expected to be of status 200 and to carry a Content-Length. Blocks for that many milliseconds, and then
/// until the first quiet moment; returns the number of replies, -1 when a connection fails or a reply is another one.
long load_run(uint16_t port, const uint8_t *request, size_t request_count, int connections, long milliseconds);

#endif
