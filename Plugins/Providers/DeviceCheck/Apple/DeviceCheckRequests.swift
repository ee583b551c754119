internal import AssayKit

/// What a client sends to exchange a device token.
struct ExchangeDeviceCheckTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("deviceToken", .text)]

    let deviceToken: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        deviceToken = try fields.string("deviceToken")
    }
}

/// What a server sends to set the bits of a device; a bit that is absent stays.
struct UpdateDeviceCheckBitsRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("deviceToken", .text), .optional("bit0", .boolean), .optional("bit1", .boolean),
    ]

    let deviceToken: String
    let bit0: Bool?
    let bit1: Bool?

    init(_ fields: RequestFields) throws(InvalidRequest) {
        deviceToken = try fields.string("deviceToken")
        bit0 = try fields.has("bit0") ? try fields.bool("bit0") : nil
        bit1 = try fields.has("bit1") ? try fields.bool("bit1") : nil
        guard bit0 != nil || bit1 != nil else { throw InvalidRequest("one of 'bit0' and 'bit1' must be there") }
    }
}
