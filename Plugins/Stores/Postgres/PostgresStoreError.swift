public import AssayCore

/// Why a PostgreSQL store could not be opened, or an operation on it could not be carried out.
///
/// An operation that throws has no effect, or one that the caller must not rely on. Errors of the network and of the
/// server are temporary: when the database answers again, the same store continues. No error holds a password.
public struct PostgresStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong; stable, for programs.
    public enum Code: String, Sendable, Hashable {
        /// The location is not one of this store, or libpq does not accept its part of it.
        case invalidLocation
        /// No host has the name.
        case unknownHost
        /// No server answers, or it accepts no connection now.
        case cannotConnect
        /// The server does not accept the user, the password or the certificate of the client.
        case wrongCredentials
        /// The server's certificate is not trusted, or is not for its name.
        case certificateNotVerified
        /// The server is too old, or lacks what the store needs.
        case unsupportedServer
        /// The server may lose what it has confirmed.
        case notDurable
        /// The server accepts no writes: a standby, or one that is set so.
        case readOnly
        /// The role may not do what the store needs.
        case permissionDenied
        /// The tables were made by a later release, which says that this one cannot use them.
        case newerSchema
        /// The schema has tables of another program, or lacks some of its own.
        case foreignSchema
        /// The database is not the one that the store was opened with, or the server is one that a standby took over from.
        case replaced
        /// The server did not answer in time.
        case timedOut
        /// The connection was lost during the operation; whether it had an effect is not known.
        case connectionLost
        /// Concurrent transactions kept the operation from being made.
        case conflict
        /// The server's disk is full.
        case diskFull
        /// A space, a name, a value or a page is larger than the store accepts.
        case tooLarge
        /// More operations wait than the store accepts.
        case overloaded
        /// The store was closed.
        case closed
        /// Any other error.
        case failed
    }

    /// What kind of error it is.
    public let code: Code
    /// What happened, and what to do, in words.
    @Exact public private(set) var message: String
    /// PostgreSQL's SQLSTATE, where the server reported the error.
    @Exact public private(set) var sqlState: String?

    init(_ code: Code, _ message: String, sqlState: String? = nil) {
        self.code = code
        self.message = message
        self.sqlState = sqlState
    }

    /// Whether it is about the way to the server, or about a server that takes no work now.
    var isOutage: Bool {
        switch code {
        case .unknownHost, .cannotConnect, .readOnly, .timedOut, .connectionLost, .conflict, .overloaded: true
        default: false
        }
    }

    /// The code, followed by the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

/// An error of the server about one statement.
struct ServerError: Error {
    /// The SQLSTATE; empty when the server gave none.
    let state: String
    let message: String

    func isOf(class prefix: String) -> Bool { state.starts(withExactly: prefix) }

    private static let retried = ["40001", "40P01", "55P03", "22012"]
    private static let endings = ["25006", "57P01", "57P02", "57P03", "57P05", "25P03"]

    /// Whether the same statement may succeed when it is sent once more, since others had the transaction rolled back.
    ///
    /// A division by zero is how a commit of several changes is rolled back that met another one.
    var isConflict: Bool { Self.retried.contains(exactly: state) }

    /// Whether the connection is of no use any more: the server ends it, or does not accept writes.
    var endsConnection: Bool { isOf(class: "08") || Self.endings.contains(exactly: state) }

    /// The error of the store for it.
    ///
    /// - `place`: the database, without secrets.
    func error(at place: String) -> PostgresStoreError {
        let known: [(String, PostgresStoreError.Code, String)] = [
            ("25006", .readOnly, "the server accepts no writes; name all hosts and target_session_attrs=read-write"),
            ("57014", .timedOut, "the server stopped a statement that took too long"),
            ("57P", .cannotConnect, "the server ends its connections"),
            ("08", .connectionLost, "the connection failed"),
            ("42501", .permissionDenied, "the role lacks a right; grant what the documentation of the store lists"),
            ("53100", .diskFull, "the server's disk is full; make room"),
            ("53", .cannotConnect, "the server lacks a resource"),
            ("40", .conflict, "concurrent transactions"), ("55P03", .conflict, "a lock was not free in time"),
            ("22012", .conflict, "concurrent transactions"),
            ("42", .foreignSchema, "the schema does not have the tables of this store as they have to be"),
            ("3F000", .foreignSchema, "the schema is gone"),
        ]
        for (prefix, code, words) in known where isOf(class: prefix) {
            return PostgresStoreError(code, "\(place): \(words): \(message)", sqlState: state)
        }
        return PostgresStoreError(.failed, "\(place): the server reports an error: \(message)", sqlState: state)
    }
}
