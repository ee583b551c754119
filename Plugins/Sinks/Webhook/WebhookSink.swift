internal import AssayCore
public import AssayKit
internal import Synchronization

/// Sends the records of decisions to a server over HTTP, many in one request.
///
///     assay serve --sink 'webhook:https://logs.example.com/assay#bearer=env:LOG_TOKEN'
///
/// Each request is a `POST` whose body has one JSON object a line, as the audit file has (`application/x-ndjson`), with
/// at most 512 KiB. Any status from 200 to 299 means that all lines were taken. After 400, 413, 415 or 422 the lines are
/// dropped, because the server would never take them; after anything else they are sent again. Then lines may come
/// twice: their `decision` tells them apart.
///
/// Nothing is kept between requests: what waits is in the kernel's queue.
public final class WebhookSink: DecisionSinkPlugin {
    /// `webhook`, followed by the URL.
    public static let descriptor = StorageDescriptor(
        scheme: "webhook", version: AssayVersion.text,
        summary: "Sends decisions to a server over HTTP, as lines of JSON.", location: "URL[#bearer=env:NAME]",
        posture: SecurityPosture(
            proves: "The records reach the server with that name, and nobody on the way reads them.",
            trusts: ["the server that receives the records", "the certificate authorities of the system"]),
        survival: .machineLoss, sharing: .servers)

    /// The most bytes of a request's body, unless a single line is longer.
    static let bodyLimit = 512 * 1024
    private static let timeLimit = Duration.seconds(20)
    private static let finalStatuses: Set<Int> = [400, 413, 415, 422]

    private let location: WebhookLocation
    private let host: StorageHost
    private let isClosed = Mutex(false)

    private init(_ location: WebhookLocation, host: StorageHost) {
        self.location = location
        self.host = host
    }

    /// Reads the location and the secret; the server is not called yet.
    ///
    /// - Throws: `DecisionSinkError` for a location of another form, or a secret that is missing.
    public static func open(_ location: String, host: StorageHost) async throws(DecisionSinkError) -> WebhookSink {
        let sink = WebhookSink(try WebhookLocation(location), host: host)
        _ = try sink.authorization()
        return sink
    }

    /// Sends entries, and returns when the server has taken all of them.
    public func record(_ entries: [DecisionEntry]) async throws(DecisionSinkError) {
        guard !isClosed.withLock({ $0 }) else { throw DecisionSinkError("webhook: the sink is closed") }
        let headers = try authorization() + [OutboundHeader("Content-Type", "application/x-ndjson")]
        var body: [UInt8] = []
        for entry in entries {
            if !body.isEmpty, body.count + entry.line.count >= Self.bodyLimit {
                try await send(body, headers)
                body = []
            }
            body += entry.line
            body.append(UInt8(ascii: "\n"))
        }
        if !body.isEmpty { try await send(body, headers) }
    }

    /// Later calls of ``record(_:)`` throw; nothing is kept that could be lost.
    public func close() async {
        isClosed.withLock { $0 = true }
    }

    private func send(_ body: [UInt8], _ headers: [OutboundHeader]) async throws(DecisionSinkError) {
        let request = OutboundRequest(
            .post, location.url, headers: headers, body: body, timeLimit: Self.timeLimit, responseLimit: 64 * 1024)
        let response: OutboundResponse
        do throws(OutboundFailure) {
            response = try await host.http.send(request)
        } catch {
            throw DecisionSinkError("webhook: \(error)")
        }
        guard !(200..<300).contains(response.status) else { return }
        throw DecisionSinkError(
            "webhook: \(location.url.host) answers with status \(response.status)",
            isFinal: Self.finalStatuses.contains(response.status), retryAfter: response.retryAfter(at: host.clock.now))
    }

    /// The header with the secret, which is read anew each time, so that it can be changed while a server runs.
    private func authorization() throws(DecisionSinkError) -> [OutboundHeader] {
        guard let reference = location.bearer else { return [] }
        let secret: [UInt8]?
        do throws(SecretError) {
            secret = try host.secrets.resolve(reference)
        } catch {
            throw DecisionSinkError("webhook: \(error)")
        }
        guard let secret, !secret.isEmpty else { throw DecisionSinkError("webhook: \(reference) has no value") }
        guard secret.count <= 4096, secret.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw DecisionSinkError("webhook: the secret of \(reference) is not printable ASCII without spaces")
        }
        return [OutboundHeader("Authorization", "Bearer \(String(decoding: secret, as: UTF8.self))")]
    }
}
