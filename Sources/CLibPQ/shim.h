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

static inline void assay_pq_count_warning(void *count, const PGresult *notice) {
    const char *state = assay_pq_sqlstate(notice);
    if (state && state[0] == '0' && state[1] == '1') *(int *)count += 1;
}

/// Counts the warnings of the server (SQLSTATE class 01); no notice is printed.
static inline void assay_pq_count_warnings(PGconn *connection, int *count) {
    PQsetNoticeReceiver(connection, assay_pq_count_warning, count);
}

#endif
