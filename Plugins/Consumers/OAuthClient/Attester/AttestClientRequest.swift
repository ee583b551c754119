internal import AssayKit

/// What an app sends to have its key attested: `{"jwk": {"kty", "crv", "x", "y"}}`.
struct AttestClientRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required(
            "jwk",
            .message([
                .required("kty", .text), .optional("use", .text), .required("crv", .text), .required("x", .text),
                .required("y", .text),
            ]))
    ]

    /// Whatever it is: what is wrong with it is said with a reason.
    let jwk: JSON?

    init(_ fields: RequestFields) throws(InvalidRequest) {
        jwk = try fields.json("jwk")
    }
}
