@_spi(Fuzzing) internal import AssayHTTPServer
internal import AssayCore
internal import AssayHTTPServer
internal import AssayKit
internal import Logging
internal import Synchronization

/// A server in memory, whose kernel only remembers what it was asked.
final class FuzzServer: CallHandler {
    /// The requests that reached the kernel, and what the client was told.
    struct Outcome {
        let calls: [Call]
        let output: [UInt8]

        /// The statuses of the responses of HTTP/1.1, in their order.
        var statuses: [String] {
            let start = Array("HTTP/1.1 ".utf8)
            return output.indices.filter { output[$0...].starts(with: start) }
                .map { String(decoding: output[$0...].dropFirst(start.count).prefix(3), as: UTF8.self) }
        }
    }

    /// Rules of each form that templates have.
    let methods: [MethodDescriptor] = {
        var form = MethodDescriptor(
            name: "form", kind: .call(nil), resources: [], rules: [HTTPRule(.post, "/form", version: .v1)])
        form.binding = .oauth
        return [
            form,
            MethodDescriptor(name: "exchange", kind: .challenge, resources: [.app, .oauthClient]),
            MethodDescriptor(
                name: "config", kind: .call(nil), resources: [.app],
                path: MethodPath(.get, "/config", query: ["filter"])),
            MethodDescriptor(
                name: "batch", kind: .call(nil), resources: [],
                rules: [HTTPRule(.get, "/v1/{resource=projects/*}/apps/-/config:batchGet", version: .v1)]),
            MethodDescriptor(
                name: "named", kind: .call(nil), resources: [],
                rules: [HTTPRule(.any, "/verify/{backend}", version: .v1), HTTPRule(.any, "/verify", version: .v1)]),
        ]
    }()
    let readiness = Readiness.ready
    private let calls = Mutex<[Call]>([])

    func handle(_ call: Call) async -> Reply {
        calls.withLock { $0.append(call) }
        return Reply(decision: DecisionID(text: "01FUZZ"), result: .success([:]))
    }

    static func outcome(_ wire: HTTPService.Wire, _ input: [UInt8]) async throws -> Outcome {
        let server = FuzzServer()
        let service = try HTTPService(
            handler: server, configuration: HTTPConfiguration(address: .host("127.0.0.1", port: 0)),
            logger: Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() }))
        let conversation = try await service.converse(wire, input)
        try BrokenPromise.unless(conversation.hasEnded, "a connection ends when its client has ended and time is over")
        return Outcome(calls: server.calls.withLock { $0 }, output: conversation.output)
    }
}
