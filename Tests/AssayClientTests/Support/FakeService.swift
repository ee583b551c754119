import AssayClient
import AssayCore
import Synchronization

/// A transport that answers as a test says, and remembers what it was asked.
final class FakeService: ClientTransport {
    typealias Answer = @Sendable (ClientRequest) async throws -> ClientResponse

    private struct State {
        var answers: [Answer] = []
        var requests: [ClientRequest] = []
        var tokens = 0
    }

    private let state = Mutex(State())
    /// What answers when no answer is queued.
    private let usual: Answer?

    init(_ usual: Answer? = nil) {
        self.usual = usual
    }

    var requests: [ClientRequest] { state.withLock { $0.requests } }
    /// The methods that were called, in order.
    var methods: [String] { requests.map { String($0.url.split(separator: ":").last ?? "") } }

    /// Queues an answer for one request.
    func next(_ answer: @escaping Answer) { state.withLock { $0.answers.append(answer) } }

    func send(_ request: ClientRequest) async throws -> ClientResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        if let answer = answer ?? usual { return try await answer(request) }
        return .token(
            state.withLock { state in
                state.tokens += 1
                return FakeToken.text(number: state.tokens)
            })
    }
}

/// Unsigned tokens, whose signature no client verifies.
enum FakeToken {
    static let app = "projects/1234567890/apps/1:1234567890:ios:321abc456def7890"

    static func text(
        number: Int, subject: String = "1:1234567890:ios:321abc456def7890",
        audience: [String] = ["projects/1234567890", "projects/example-project"], lifetime: Int64 = 3600
    ) -> String {
        let claims: JSON = [
            "sub": .string(subject), "aud": .array(audience.map { .string($0) }), "iat": .integer(1_795_262_400),
            "exp": .integer(1_795_262_400 + lifetime), "jti": .string("token-\(number)"),
        ]
        return text(claims)
    }

    static func text(_ claims: JSON) -> String {
        let header: JSON = ["alg": "RS256", "typ": "JWT", "kid": "AAAAAA"]
        return [header.encoded, claims.encoded, Array("signature".utf8)].map { Base64.encodeURL($0) }
            .joined(separator: ".")
    }
}

extension ClientResponse {
    static func json(_ status: Int, _ body: JSON, _ headers: [ClientHeader] = []) -> ClientResponse {
        ClientResponse(status: status, headers: headers, body: body.encoded)
    }

    static func token(_ text: String, ttl: String = "3600s") -> ClientResponse {
        .json(200, ["token": .string(text), "ttl": .string(ttl)])
    }

    /// An error as the gateway sends it.
    static func error(
        _ status: Int, _ name: String, _ message: String = "App attestation failed.", decision: String? = nil,
        headers: [ClientHeader] = []
    ) -> ClientResponse {
        var error: [JSONMember] = [
            JSONMember("code", .integer(Int64(status))), JSONMember("message", .string(message)),
            JSONMember("status", .string(name)),
        ]
        if let decision {
            error.append(
                JSONMember(
                    "details",
                    [["@type": "type.googleapis.com/google.rpc.RequestInfo", "requestId": .string(decision)]]))
        }
        return .json(status, ["error": .object(error)], headers)
    }
}

/// A gate that answers wait at until a test opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.waiting.count } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
