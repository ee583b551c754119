internal import AssayCore

/// The messages of the kernel's own methods.
enum KernelShapes {
    static let verification: MessageShape = [
        .required("appCheckToken", .text), .optional("requestId", .textOfLength(16...128)), .optional("service", .text),
    ]
    static let verified: MessageShape = [.optional("alreadyConsumed", .boolean)]

    static let minting: MessageShape = [
        .optional("tokenTtl", .duration),
        .optional("limitedUseConfig", .message([.optional("jti", .textOfLength(RequestedTokenID.length))])),
    ]
    static let token: MessageShape = [.required("token", .text), .required("ttl", .duration)]
}
