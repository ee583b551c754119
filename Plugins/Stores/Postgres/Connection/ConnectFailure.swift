internal import AssayCore

/// What libpq says when no connection could be made.
///
/// It gives no code, so that its words have to be recognised; those of servers in other languages are passed on without
/// advice.
enum ConnectFailure {
    private static let known: [(text: String, code: PostgresStoreError.Code, advice: String)] = [
        ("could not translate host name", .unknownHost, "no host has this name; check the host and the name server"),
        ("password authentication failed", .wrongCredentials, "wrong user or password"),
        ("no password supplied", .wrongCredentials, "a password is needed: #password=file:PATH, or libpq's passfile"),
        ("no pg_hba.conf entry", .wrongCredentials, "the server's pg_hba.conf does not let this user in from here"),
        ("authentication failed", .wrongCredentials, "the server does not accept the user"),
        ("is not permitted to log in", .wrongCredentials, "the role needs LOGIN"),
        ("role \"", .wrongCredentials, "create the role, or name another user"),
        ("database \"", .cannotConnect, "create the database, or name another one"),
        (
            "certificate verify failed", .certificateNotVerified,
            "the server's certificate is not signed by the authority in sslrootcert, or has expired"
        ),
        ("root certificate file", .certificateNotVerified, "name the authority's certificate with sslrootcert=PATH"),
        ("does not match host name", .certificateNotVerified, "the server's certificate is for another name"),
        ("server does not support SSL", .certificateNotVerified, "the server has no TLS; sslmode demands it"),
        ("session is read-only", .readOnly, "no host accepts writes; name all hosts of the cluster"),
        ("server is in hot standby", .readOnly, "no host accepts writes; name all hosts of the cluster"),
        ("permission denied for database", .permissionDenied, "grant the role CONNECT on the database"),
    ]

    static func error(_ message: String, _ settings: ConnectionSettings) -> PostgresStoreError {
        for (text, code, advice) in known where message.holds(text) {
            return PostgresStoreError(code, "\(settings.place): \(advice): \(message)")
        }
        return PostgresStoreError(.cannotConnect, "\(settings.place): no connection: \(message)")
    }
}
