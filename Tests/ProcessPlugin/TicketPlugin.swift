#if Processes
import AssayCrypto
import AssayProcesses
import Foundation
import NIOCore
import SwiftProtobuf
import Synchronization

/// A provider with simulated devices, for the conformance suite: a ticket is good once, in one app, with the code of its
/// issuer, whose server knows it.
final class TicketPlugin: Sendable {
    /// What the plugin does wrong.
    enum Flaw: String {
        case none = "ticket"
        /// It looks at half of the code.
        case credulous = "ticket-credulous"
        /// It keeps in memory which tickets were used.
        case forgetful = "ticket-forgetful"
        /// It says the key of the issuer.
        case talkative = "ticket-talkative"
        /// It believes a server whatever it answers.
        case trusting = "ticket-trusting"
        /// Its simulated device is none.
        case unsimulated = "ticket-unsimulated"
        /// Its simulated device asks for other calls without end.
        case endless = "ticket-endless"
    }

    private static let key = Data("a-key-that-only-the-issuer-has".utf8)

    private let flaw: Flaw
    private let host = Mutex<PluginConnection?>(nil)
    private let apps = Mutex<[UInt64: String]>([:])
    private let used = Mutex<Set<String>>([])
    private let lastNumber = Mutex(0)

    init(_ flaw: Flaw) {
        self.flaw = flaw
    }

    func answer(_ method: String, _ request: [UInt8]) async throws -> ByteBuffer {
        switch method {
        case "Handshake":
            let request = try Assay_Plugin_V1_HandshakeRequest(serializedBytes: request)
            let connection = try PluginConnection.connect(to: request.hostSocket, service: "assay.plugin.v1.Host")
            host.withLock { $0 = connection }
            return try GRPCMessage.encode(Assay_Plugin_V1_HandshakeResponse.with { $0.version = 1 })
        case "Describe": return try GRPCMessage.encode(Self.description)
        case "Validate", "Configure":
            let request = try Assay_Plugin_V1_ConfigureRequest(serializedBytes: request)
            apps.withLock { $0[request.instance] = request.app }
            return try GRPCMessage.encode(Self.judge(request.section))
        case "Release": return try GRPCMessage.encode(Assay_Plugin_V1_ReleaseResponse())
        case "Appraise": return try GRPCMessage.encode(try await appraise(.init(serializedBytes: request)))
        case "Health": return try GRPCMessage.encode(Assay_Plugin_V1_HealthResponse())
        case "Shutdown": exit(0)
        case "Subject" where flaw != .unsimulated:
            return try GRPCMessage.encode(subject(try .init(serializedBytes: request)))
        case "MakeRequest": return try GRPCMessage.encode(make(try .init(serializedBytes: request)))
        case "Respond":
            return try GRPCMessage.encode(
                Assay_Plugin_V1_FetchResponse.with { ($0.status, $0.body) = (200, Data("known".utf8)) })
        default: throw GRPCFailure(.unimplemented, "there is no such method")
        }
    }

    private static let description = Assay_Plugin_V1_DescribeResponse.with { description in
        (description.kind, description.name, description.version) = (.provider, "ticket", "1.0.0")
        description.summary = "Tickets of an issuer, each good once."
        description.stability = .stable
        description.proves = "The issuer gave this ticket to a user of the app."
        description.trusts = ["the issuer, who keeps the key and the list of tickets"]
        description.reasons = [
            ("forged", "the ticket is not the issuer's"), ("used", "the ticket was used before"),
            ("unknown", "the issuer does not know the ticket"),
        ].map { code, summary in
            .with { ($0.code, $0.summary, $0.advice) = ("ticket_\(code)", summary, "Take another ticket.") }
        }
        description.keys = [
            .with { ($0.name, $0.kind, $0.required, $0.summary) = ("key", .secret, true, "The key of the issuer.") }
        ]
        description.methods = [
            .with { method in
                (method.name, method.kind) = ("exchangeTicket", .exchange)
                method.request = [
                    .with { ($0.name, $0.kind, $0.required) = ("number", .text, true) },
                    .with { ($0.name, $0.kind, $0.required) = ("code", .bytes, true) },
                ]
            }
        ]
        description.limits = .with { ($0.outboundCalls, $0.storeWrites) = (1, 1) }
    }

    private static func judge(_ section: String) -> Assay_Plugin_V1_ConfigureResponse {
        .with { response in
            if section.contains("env:OTHER") {
                response.errors = [.with { ($0.path, $0.message) = (["key"], "this key is not the issuer's") }]
            }
        }
    }

    /// The issuer's code for a ticket of an app.
    private static func code(_ number: String, _ app: String) -> [UInt8] {
        HMACSHA256(key: Array(key)).authenticate(Array("\(app) \(number)".utf8)[...])
    }

    private static func refused(_ code: String, _ detail: String = "") -> Assay_Plugin_V1_AppraiseResponse {
        .with { $0.refused = .with { ($0.reason, $0.detail) = ("ticket_\(code)", detail) } }
    }

    private func appraise(_ request: Assay_Plugin_V1_AppraiseRequest) async throws -> Assay_Plugin_V1_AppraiseResponse {
        guard let host = host.withLock({ $0 }) else { throw GRPCFailure(.unavailable, "no handshake was made") }
        let app = apps.withLock { $0[request.context.instance] } ?? ""
        let number = request.fields.first { $0.name == "number" }?.text ?? ""
        let code = Array(request.fields.first { $0.name == "code" }?.bytes ?? Data())
        let expected = Self.code(number, app)
        let isGenuine = flaw == .credulous ? code.prefix(16) == expected.prefix(16) : code == expected
        guard isGenuine else {
            return Self.refused("forged", flaw == .talkative ? String(decoding: Self.key, as: UTF8.self) : "")
        }
        let answer: Assay_Plugin_V1_FetchResponse = try await host.call(
            "Fetch",
            Assay_Plugin_V1_FetchRequest.with { fetch in
                (fetch.call, fetch.method) = (request.context.call, "GET")
                fetch.url = "https://tickets.example.com/ticket"
            }, timeLimit: .seconds(300))
        if flaw != .trusting {
            guard answer.status == 200 else { throw GRPCFailure(.unavailable, "the issuer answers \(answer.status)") }
            guard answer.body == Data("known".utf8) else { return Self.refused("unknown") }
        }
        if flaw == .forgetful {
            guard used.withLock({ $0.insert("\(app) \(number)").inserted }) else { return Self.refused("used") }
        } else {
            let stored: Assay_Plugin_V1_StoreResponse = try await host.call(
                "Store",
                Assay_Plugin_V1_StoreRequest.with { store in
                    store.call = request.context.call
                    store.insert.name = number
                }, timeLimit: .seconds(300))
            guard stored.done else { return Self.refused("used") }
        }
        return .with { $0.verified.holder = number }
    }

    // MARK: - Simulated devices

    private func subject(_ request: Assay_Plugin_V1_SubjectRequest) -> Assay_Plugin_V1_SubjectResponse {
        .with { subject in
            subject.platform = "web"
            subject.sections = request.apps.map { _ in "key: env:TICKETS" }
            subject.wrongSections = ["key: env:OTHER # wrong", "key: [] # wrong"]
            subject.secrets = [.with { ($0.reference, $0.value) = ("env:TICKETS", Self.key) }]
            subject.callsServers = true
            subject.requests = [
                .with { request in
                    (request.method, request.adversaries) = ("exchangeTicket", Self.adversaries)
                    request.untimed = "a ticket does not say when it was made"
                }
            ]
            subject.denials = [.with { ($0.status, $0.body) = (200, Data("unknown".utf8)) }]
        }
    }

    private func make(_ request: Assay_Plugin_V1_MakeRequestRequest) -> Assay_Plugin_V1_MakeRequestResponse {
        if flaw == .endless || request.replies.isEmpty && request.client == 3 {
            return .with { $0.first = .with { ($0.method, $0.body) = ("exchangeTicket", ticket(request)) } }
        }
        return .with { $0.body = ticket(request) }
    }

    private static let adversaries: [Assay_Plugin_V1_TestAdversary] = [
        ("wrong-authority", "a ticket has one issuer, whose key the policy names", ""),
        ("other-key", "", "ticket_forged"),
        ("other-app", "", "ticket_forged"), ("untrusted-device", "a ticket says nothing of a device", ""),
        ("expired", "a ticket has no end", ""), ("future", "a ticket has no beginning", ""), ("malformed", "", ""),
        ("downgraded", "the code of a ticket has one algorithm", ""),
    ].map { name, why, reason in .with { ($0.name, $0.impossible, $0.reason) = (name, why, reason) } }

    private func ticket(_ request: Assay_Plugin_V1_MakeRequestRequest) -> String {
        let number = lastNumber.withLock { last in
            last += 1
            return "T\(last)"
        }
        let other = request.adversary == "other-app" ? ":other" : ""
        let app = "projects/\(request.app.projectNumber)/apps/\(request.app.app)\(other)"
        var code = Data(Self.code(number, app)).base64EncodedString()
        if request.adversary == "other-key" {
            code = Data(HMACSHA256(key: [1]).authenticate(Array(number.utf8)[...])).base64EncodedString()
        } else if request.adversary == "malformed" {
            code = String(code.dropLast(4))
        }
        return "{\"number\": \"\(number)\", \"code\": \"\(code)\"}"
    }
}
#endif
