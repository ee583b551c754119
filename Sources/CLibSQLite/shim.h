// SQLite: its C interface, and what of it Swift cannot call.

#ifndef ASSAY_CLIBSQLITE_SHIM_H
#define ASSAY_CLIBSQLITE_SHIM_H

#include <sqlite3.h>

/// Binds bytes that SQLite copies: the destructor's value SQLITE_TRANSIENT is a cast that Swift cannot express.
static inline int assay_sqlite3_bind_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// Leaves the write-ahead log as it is when the connection is closed, also the last one.
static inline int assay_sqlite3_leave_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// How a file is written by its header: 1 for rollback journals, 2 for a write-ahead log, 0 for an empty file, -1 if it cannot be read.
///
/// Reads the open file itself: to open it beside SQLite, and to close it, would release SQLite's locks.
static inline int assay_sqlite3_write_version(sqlite3 *connection) {
    sqlite3_file *file = 0;
    unsigned char version = 0;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file || !file->pMethods) return -1;
    int result = file->pMethods->xRead(file, &version, 1, 18);
    if (result == SQLITE_IOERR_SHORT_READ) return 0;
    return result == SQLITE_OK ? version : -1;
}

#endif
