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

static inline void assay_pq_drop_notice(void *context, const PGresult *notice) {
    (void)context;
    (void)notice;
}

/// What the server says beside its answers is not printed.
static inline void assay_pq_silence(PGconn *connection) {
    PQsetNoticeReceiver(connection, assay_pq_drop_notice, 0);
}

#endif
