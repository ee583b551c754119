#if Simulator
internal import AssayCore
internal import NIOCore

/// Whole requests in bytes, made before they are needed.
struct LoadRequests: Sendable {
    /// The project: `projects/PROJECT`.
    let project: String
    /// The app: `projects/PROJECT/apps/APP`.
    let app: String
    /// The backend of `/verify/BACKEND`.
    let backend: String
    /// The methods of the provider.
    let methods: LoadDevices.Methods
    /// The bearer token for `verifyAppCheckToken`; nil when there is none.
    let caller: String?
    let target: LoadTarget

    /// The next challenge.
    func challenge() -> ByteBuffer { post("/v1/\(app):\(methods.challenge)", nil) }

    /// - Parameter message: the request message, as the platform has it.
    func attestation(_ message: JSON) -> ByteBuffer { post("/v1/\(app):\(methods.attestation)", message) }

    func assertion(_ artifact: [UInt8], _ assertion: [UInt8], _ challenge: [UInt8], limitedUse: Bool) -> ByteBuffer {
        post(
            "/v1/\(app):\(methods.assertion)",
            [
                "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                "challenge": .string(Base64.encode(challenge)), "limitedUse": .bool(limitedUse),
            ])
    }

    func verification(_ token: String) -> ByteBuffer {
        post(
            "/v1beta/\(project):verifyAppCheckToken", ["appCheckToken": .string(token)],
            caller.map { "Authorization: Bearer \($0)\r\n" } ?? "")
    }

    func question(_ token: String) -> ByteBuffer {
        let fields = "X-Firebase-AppCheck: \(token)\r\nX-Original-URI: /orders/1\r\nX-Original-Method: GET\r\n"
        return ByteBuffer(
            string: "GET \(target.path)/verify/\(backend) HTTP/1.1\r\nHost: \(target.authority)\r\n\(fields)\r\n")
    }

    private func post(_ path: String, _ body: JSON?, _ fields: String = "") -> ByteBuffer {
        let content = body?.encoded ?? []
        let type = body == nil ? "" : "Content-Type: application/json\r\n"
        var buffer = ByteBuffer(
            string: "POST \(target.path)\(path) HTTP/1.1\r\nHost: \(target.authority)\r\n\(type)\(fields)"
                + "Content-Length: \(content.count)\r\n\r\n")
        buffer.writeBytes(content)
        return buffer
    }
}
#endif
