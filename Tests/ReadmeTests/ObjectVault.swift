import AssayCore
import AssayKit
import Synchronization

final class ObjectVault: KeyVaultPlugin {
    static let descriptor = StorageDescriptor(
        scheme: "object", summary: "Keys in an object of a server, by HTTP.", location: "URL",
        posture: SecurityPosture(
            proves: "Nobody on the way reads the keys.", trusts: ["who can read or write the object"]),
        survival: .machineLoss, sharing: .servers)

    private let url: EndpointURL
    private let http: any OutboundHTTP
    private let isClosed = Mutex(false)

    static func open(_ location: String, host: StorageHost) async throws(KeyVaultError) -> ObjectVault {
        guard let url = EndpointURL(location) else { throw KeyVaultError("object: expected a URL") }
        return ObjectVault(url, host.http)
    }

    private init(_ url: EndpointURL, _ http: any OutboundHTTP) { (self.url, self.http) = (url, http) }

    func read() async throws(KeyVaultError) -> KeyDocument? {
        let response = try await send(OutboundRequest(.get, url, responseLimit: 2 << 20))
        guard response.status != 404 else { return nil }
        guard response.status == 200, let tag = response.header("etag") else {
            throw KeyVaultError("object: the server answers a request to read with status \(response.status)")
        }
        return KeyDocument(bytes: response.body, revision: KeyRevision(tag))
    }

    func replace(
        _ document: [UInt8], expecting expected: KeyRevision?
    ) async throws(KeyVaultError) -> KeyRevision? {
        // The server compares and writes in one step.
        let condition = expected.map { OutboundHeader("If-Match", $0.text) } ?? OutboundHeader("If-None-Match", "*")
        let response = try await send(OutboundRequest(.put, url, headers: [condition], body: document))
        guard response.status != 412 else { return nil }
        guard (200..<300).contains(response.status), let tag = response.header("etag") else {
            throw KeyVaultError("object: the server answers a request to write with status \(response.status)")
        }
        return KeyRevision(tag)
    }

    func close() async { isClosed.withLock { $0 = true } }

    private func send(_ request: OutboundRequest) async throws(KeyVaultError) -> OutboundResponse {
        guard !isClosed.withLock({ $0 }) else { throw KeyVaultError("object: the vault is closed") }
        do throws(OutboundFailure) {
            return try await http.send(request)
        } catch {
            throw KeyVaultError("object: \(error)")
        }
    }
}
