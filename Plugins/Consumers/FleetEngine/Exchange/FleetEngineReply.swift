internal import AssayCore

/// A token with the spellings of both of Google's sample providers: those of on-demand trips (`jwt`) and of scheduled
/// tasks (`token`), with times in milliseconds; its remaining lifetime in seconds, which browsers need; and its end in seconds, which
/// the sample for iOS in Swift reads.
enum FleetEngineReply {
    static let shape: MessageShape = [
        .required("jwt", .text), .required("token", .text),
        .required("creationTimestamp", .integer(0...Int64.max)),
        .required("expirationTimestamp", .integer(0...Int64.max)),
        .required("creation_timestamp_ms", .integer(0...Int64.max)),
        .required("expiration_timestamp_ms", .integer(0...Int64.max)),
        .required("expires_at", .integer(0...Int64.max)),
        .required("expires_in", .integer(0...3600)), .required("expiresInSeconds", .integer(0...3600)),
    ]

    static func message(_ token: FleetEngineToken, at now: Instant) -> JSON {
        let created = JSON.integer(token.created.milliseconds)
        let expires = JSON.integer(token.expires.milliseconds)
        let lifetime = JSON.integer((token.expires - now).wholeSeconds)
        return [
            "jwt": .string(token.text), "token": .string(token.text), "creationTimestamp": created,
            "expirationTimestamp": expires, "creation_timestamp_ms": created, "expiration_timestamp_ms": expires,
            "expires_at": .integer(token.expires.milliseconds / 1000), "expires_in": lifetime,
            "expiresInSeconds": lifetime,
        ]
    }
}
