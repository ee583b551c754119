// libpq: PostgreSQL's client library, and the macros that Swift does not read.

#ifndef ASSAY_CLIBPQ_SHIM_H
#define ASSAY_CLIBPQ_SHIM_H

#include <libpq-fe.h>

/// The SQLSTATE of a failed statement; NULL when the error is not of the server.
static inline const char *assay_pq_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/// The message of a failed statement in one line, without the detail, which may hold values.
static inline const char *assay_pq_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

/// How many notices of a connection have come.
typedef struct {
    /// Warnings of the server (SQLSTATE class 01).
    int warnings;
    /// Those of libpq itself, which have no SQLSTATE: the server has sent what it was not asked for.
    int unasked;
} assay_pq_notices;

static inline void assay_pq_count_notice(void *counts, const PGresult *notice) {
    const char *state = assay_pq_sqlstate(notice);
    if (!state) ((assay_pq_notices *)counts)->unasked += 1;
    else if (state[0] == '0' && state[1] == '1') ((assay_pq_notices *)counts)->warnings += 1;
}

/// Counts notices; none is printed.
static inline void assay_pq_count_notices(PGconn *connection, assay_pq_notices *counts) {
    PQsetNoticeReceiver(connection, assay_pq_count_notice, counts);
}

#endif
