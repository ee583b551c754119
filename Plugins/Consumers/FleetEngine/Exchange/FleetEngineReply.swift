internal import AssayCore

/// A token as the sample providers of Google's spell it, both at once: those of on-demand trips (`jwt`) and those of
/// scheduled tasks (`token`), with times in milliseconds; and the seconds that it has to live, which browsers need.
enum FleetEngineReply {
    static let shape: MessageShape = [
        .required("jwt", .text), .required("token", .text),
        .required("creationTimestamp", .integer(0...Int64.max)),
        .required("expirationTimestamp", .integer(0...Int64.max)),
        .required("creation_timestamp_ms", .integer(0...Int64.max)),
        .required("expiration_timestamp_ms", .integer(0...Int64.max)),
        .required("expires_in", .integer(0...3600)), .required("expiresInSeconds", .integer(0...3600)),
    ]

    static func message(_ token: FleetEngineToken, at now: Instant) -> JSON {
        let created = JSON.integer(token.created.milliseconds)
        let expires = JSON.integer(token.expires.milliseconds)
        let lifetime = JSON.integer((token.expires - now).wholeSeconds)
        return [
            "jwt": .string(token.text), "token": .string(token.text), "creationTimestamp": created,
            "expirationTimestamp": expires, "creation_timestamp_ms": created, "expiration_timestamp_ms": expires,
            "expires_in": lifetime, "expiresInSeconds": lifetime,
        ]
    }
}
