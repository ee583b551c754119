#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The users of the demonstration's app: an issuer of JWTs, with its keys in a file.
struct DemoUsers: Sendable {
    static let issuer = "https://login.example.com/"
    static let audience = "https://assay.example.com"

    /// Where its JWKS is.
    let path: String
    private let signer: JWSSigner

    init(folder: String) throws {
        let key = try PrivateKey.generate(.ec(.p256))
        path = "\(folder)/users.json"
        signer = try JWSSigner(key: key, keyID: "users-1", algorithm: .es256)
        let keys = JWKSet([JWK(signing: key.publicKey, keyID: "users-1")])
        try Data(keys.json.encoded).write(to: URL(fileURLWithPath: path))
    }

    /// The JWT of a user who has a trip.
    func token(trip: String) throws -> String {
        let now = HostClock.system.now.seconds
        let claims: JSON = [
            "iss": .string(DemoUsers.issuer), "sub": "user-1", "aud": .string(DemoUsers.audience),
            "iat": .integer(now), "exp": .integer(now + 600), "trip_id": .string(trip),
        ]
        return try signer.sign(payload: claims.encoded)
    }
}
#endif
