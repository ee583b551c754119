import AssayCore

/// The request: `{"purpose": "delivery"}`.
struct VisitorPassRequest: RequestMessage {
    static let shape: MessageShape? = [.required("purpose", .text)]

    let purpose: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        purpose = try fields.string("purpose")
        guard purpose.utf8.count <= 64 else { throw InvalidRequest("the field 'purpose' has 64 bytes at most") }
    }
}
