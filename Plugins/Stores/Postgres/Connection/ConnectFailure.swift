internal import AssayCore

/// What libpq says when no connection could be made.
///
/// It gives no code, so that its words have to be recognised; those of servers in other languages are passed on without
/// advice. With several hosts it says one thing about each.
enum ConnectFailure {
    private struct Known: Sendable {
        let text: String
        let code: PostgresStoreError.Code
        let advice: String

        init(_ text: String, _ code: PostgresStoreError.Code, _ advice: String) {
            self.text = text
            self.code = code
            self.advice = advice
        }
    }

    private static let full = "the server accepts no more connections; raise its limit, or lower #pool of the servers"
    private static let standby = "no host accepts writes; promote a standby, or name all hosts of the cluster"

    /// The first that is found in a line holds for it: texts that are part of others come after them.
    private static let known = [
        Known(
            "could not translate host name", .unknownHost, "no host has this name; check the host and the name server"),
        Known("password authentication failed", .wrongCredentials, "wrong user or password"),
        Known(
            "no password supplied", .wrongCredentials, "a password is needed: #password=file:PATH, or libpq's passfile"),
        Known(
            "no pg_hba.conf entry", .wrongCredentials, "the server's pg_hba.conf does not let this user in from here"),
        Known(
            "requires a valid client certificate", .wrongCredentials,
            "name a client certificate with sslcert and sslkey"),
        Known("authentication failed", .wrongCredentials, "the server does not accept the user"),
        Known("is not permitted to log in", .wrongCredentials, "the role needs LOGIN"),
        Known("too many clients", .cannotConnect, full), Known("too many connections", .cannotConnect, full),
        Known("connection slots are reserved", .cannotConnect, full),
        Known("permission denied for database", .permissionDenied, "grant the role CONNECT on the database"),
        Known("not currently accepting connections", .cannotConnect, "the database has ALLOW_CONNECTIONS false"),
        Known("the database system is", .cannotConnect, "the server starts or ends; it is tried again"),
        Known("role \"", .wrongCredentials, "create the role, or name another user"),
        Known("database \"", .cannotConnect, "create the database, or name another one"),
        Known(
            "certificate verify failed", .certificateNotVerified,
            "the server's certificate is not signed by the authority in sslrootcert, or has expired; "
                + "`openssl s_client -starttls postgres -connect HOST:PORT` shows it"),
        Known(
            "root certificate file", .certificateNotVerified, "name the authority's certificate with sslrootcert=PATH"),
        Known(
            "does not match host name", .certificateNotVerified,
            "the server's certificate is for another name; name the host as the certificate does"),
        Known(
            "server does not support SSL", .certificateNotVerified,
            "the server has no TLS, and sslmode demands it; set ssl=on on the server"),
        Known("session is read-only", .readOnly, standby), Known("server is in hot standby", .readOnly, standby),
    ]

    static func error(_ message: String, _ settings: ConnectionSettings) -> PostgresStoreError {
        var found: [Known] = []
        for line in message.split(onASCII: ";") {
            let text = String(line)
            guard let known = known.first(where: { text.holds($0.text) }) else { continue }
            if !found.contains(where: { $0.advice.isExactly(known.advice) }) { found.append(known) }
        }
        // A host that answers tells more than one that does not.
        guard let first = found.first(where: { $0.code == .readOnly }) ?? found.first else {
            return PostgresStoreError(.cannotConnect, "\(settings.place): no connection: \(message)")
        }
        let advice = found.map(\.advice).joined(separator: "; ")
        return PostgresStoreError(first.code, "\(settings.place): \(advice): \(message)")
    }
}
