internal import AssayKit
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Speaks App Check's protocol over HTTP, as the SDK on a device does.
struct DemoClient: Sendable {
    let base: String
    private let session = URLSession(configuration: .ephemeral)

    init(base: String) {
        self.base = base
    }

    /// What the server answered.
    struct Answer: Sendable {
        let status: Int
        let decision: String
        let body: JSON

        /// A text in the body that must be there.
        func text(_ name: String) throws -> String {
            guard let text = body[name]?.string else { throw DemoFailure("the reply has no `\(name)`") }
            return text
        }

        /// Base 64 in the body that must be there.
        func bytes(_ name: String) throws -> [UInt8] {
            guard let bytes = Base64.decode(try text(name)) else { throw DemoFailure("`\(name)` is not Base 64") }
            return bytes
        }
    }

    /// A challenge; the SDK sends neither a body nor a content type.
    func challenge(_ resource: String) async throws -> [UInt8] {
        try await post("\(resource):generateAppAttestChallenge", body: nil).bytes("challenge")
    }

    func post(_ path: String, body: JSON?) async throws -> Answer {
        var request = try request(path)
        request.httpMethod = "POST"
        if let body {
            request.httpBody = Data(body.encoded)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        return try await answer(to: request)
    }

    func get(_ path: String) async throws -> Answer {
        try await answer(to: request(path))
    }

    private func request(_ path: String) throws -> URLRequest {
        guard let url = URL(string: "\(base)/v1/\(path)") else { throw DemoFailure("\(path) is no path") }
        return URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 20)
    }

    private func answer(to request: URLRequest) async throws -> Answer {
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw DemoFailure("the answer is not HTTP") }
        return Answer(
            status: response.statusCode, decision: response.value(forHTTPHeaderField: "x-assay-decision") ?? "",
            body: try JSON.parse(data))
    }
}

/// A step that did not end as it should.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
