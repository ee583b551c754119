// SQLite: its C interface, and the one macro that Swift does not read.

#ifndef ASSAY_CLIBSQLITE_SHIM_H
#define ASSAY_CLIBSQLITE_SHIM_H

#include <sqlite3.h>

/// Binds bytes that SQLite copies: the destructor's value SQLITE_TRANSIENT is a cast that Swift cannot express.
static inline int assay_sqlite3_bind_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
