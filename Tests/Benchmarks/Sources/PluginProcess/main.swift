internal import NIOCore
internal import SwiftProtobuf

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

// A provider in a process of its own that refuses all evidence: what remains of a call is the way there and back.

let description = Assay_Plugin_V1_DescribeResponse.with { description in
    description.kind = .provider
    description.name = "outside"
    description.summary = "Refuses all evidence."
    description.reasons = [
        .with { ($0.code, $0.summary) = ("outside_refused", "It is evidence, which is refused.") }
    ]
    description.methods = [
        .with { method in
            (method.name, method.kind) = ("exchangeOutside", .exchange)
            method.request = [.with { ($0.name, $0.kind, $0.required) = ("evidence", .bytes, true) }]
        }
    ]
}
let refusal = Assay_Plugin_V1_AppraiseResponse.with { $0.refused.reason = "outside_refused" }

guard let socket = getenv("ASSAY_PLUGIN_SOCKET") else { exit(2) }
let listener = try await UnaryListener.listen(
    on: String(cString: socket), service: "assay.plugin.v1.Plugin"
) { method, bytes in
    switch method {
    case "Handshake": return try GRPCMessage.encode(Assay_Plugin_V1_HandshakeResponse.with { $0.version = 1 })
    case "Describe": return try GRPCMessage.encode(description)
    case "Configure": return try GRPCMessage.encode(Assay_Plugin_V1_ConfigureResponse())
    case "Appraise":
        let request = try Assay_Plugin_V1_AppraiseRequest(serializedBytes: bytes)
        guard request.fields.first?.bytes.count == 6144 else { throw GRPCFailure(.invalidArgument, "no evidence") }
        return try GRPCMessage.encode(refusal)
    case "Health": return try GRPCMessage.encode(Assay_Plugin_V1_HealthResponse())
    case "Shutdown": exit(0)
    default: throw GRPCFailure(.unimplemented, "there is no such method")
    }
}
while true { try await Task.sleep(for: .seconds(600)) }
