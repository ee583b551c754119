internal import AssayKit

/// What an authorization server hands on of a request to it, by the names of its parameters.
struct ClientAssertionRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("clientId", .text), .optional("clientAssertionType", .list(.text, atMost: valueLimit)),
        .optional("clientAssertion", .list(.text, atMost: valueLimit)), .optional("audience", .text),
    ]

    /// The most values of a parameter that are taken; more than one is refused anyway.
    private static let valueLimit = 8

    let clientID: String
    let types: [String]
    let assertions: [String]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        clientID = try fields.string("clientId")
        types = try fields.strings("clientAssertionType").filter { !$0.isEmpty }
        assertions = try fields.strings("clientAssertion").filter { !$0.isEmpty }
        guard clientID.utf8.count <= ClientAttestation.clientLimit else {
            throw InvalidRequest("the field 'client_id' is too large")
        }
        guard max(types.count, assertions.count) <= ClientAssertionRequest.valueLimit else {
            throw InvalidRequest("a parameter is there too often")
        }
    }
}
