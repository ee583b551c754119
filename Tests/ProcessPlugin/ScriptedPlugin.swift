#if Processes
import AssayProcesses
import Foundation
import NIOCore
import SwiftProtobuf
import Synchronization

/// Answers the calls of Assay by a script.
final class ScriptedPlugin: Sendable {
    /// How it describes itself: `honest`, or what is wrong.
    private let mode: String
    private let host = Mutex<PluginConnection?>(nil)
    private let lastCall = Mutex(Data())
    private let instances = Mutex<Set<UInt64>>([])
    private let isIll = Mutex(false)

    init(mode: String) {
        self.mode = mode
    }

    func answer(_ method: String, _ request: [UInt8]) async throws -> ByteBuffer {
        switch method {
        case "Handshake": return try GRPCMessage.encode(try await handshake(.init(serializedBytes: request)))
        case "Describe": return try GRPCMessage.encode(describe())
        case "Validate": return try GRPCMessage.encode(configure(.init(serializedBytes: request), keeps: false))
        case "Configure": return try GRPCMessage.encode(configure(.init(serializedBytes: request), keeps: true))
        case "Release":
            return try GRPCMessage.encode(release(.init(serializedBytes: request)))
        case "Appraise": return try GRPCMessage.encode(try await appraise(.init(serializedBytes: request)))
        case "Answer": return try GRPCMessage.encode(try await respond(.init(serializedBytes: request)))
        case "Health":
            return try GRPCMessage.encode(
                Assay_Plugin_V1_HealthResponse.with { $0.problem = isIll.withLock { $0 } ? "the sensor is\nwet" : "" })
        case "Subject" where mode == "consumer":
            return try GRPCMessage.encode(
                Assay_Plugin_V1_SubjectResponse.with { subject in
                    subject.sections = ["factory: north", "factory: north", "factory: north"]
                    subject.wrongSections = ["factory: closed # wrong", "factory: north\nsizes: [12] # wrong"]
                    let adversaries: [Assay_Plugin_V1_TestAdversary] = [
                        .with { ($0.name, $0.reason) = ("not-granted", "widget_forged") },
                        .with { $0.name = "malformed" },
                    ]
                    subject.requests = [.with { ($0.method, $0.adversaries) = ("openDesk", adversaries) }]
                })
        case "MakeRequest":
            let adversary = try Assay_Plugin_V1_MakeRequestRequest(serializedBytes: request).adversary
            let says = ["not-granted": "forged", "malformed": "invalid"][adversary] ?? "genuine"
            return try GRPCMessage.encode(
                Assay_Plugin_V1_MakeRequestResponse.with { $0.body = "{\"say\": \"\(says)\"}" })
        case "Maintain": return try GRPCMessage.encode(try await maintain(.init(serializedBytes: request)))
        case "Shutdown":
            if mode == "stubborn" {
                signal(SIGTERM, SIG_IGN)
                throw GRPCFailure(.unavailable, "not now")
            }
            exit(0)
        default: throw GRPCFailure(.unimplemented, "there is no such method")
        }
    }

    private func handshake(
        _ request: Assay_Plugin_V1_HandshakeRequest
    ) async throws -> Assay_Plugin_V1_HandshakeResponse {
        let connection = try PluginConnection.connect(
            to: request.hostSocket, service: "assay.plugin.v1.Host")
        host.withLock { $0 = connection }
        return .with { $0.version = mode == "version" ? 9 : request.newestVersion }
    }

    private func describe() -> Assay_Plugin_V1_DescribeResponse {
        .with { description in
            let isConsumer = mode == "consumer"
            description.kind = isConsumer ? .consumer : .provider
            description.name = mode == "name" ? "another" : isConsumer ? "desk" : "widget"
            description.version = "1.2.3"
            description.summary = "Widgets of a factory."
            description.stability = .stable
            description.proves = "The widget is from the factory."
            description.trusts = ["the factory"]
            description.reasons = ["forged", "used"].map { code in
                .with {
                    $0.code = "widget_\(code)"
                    $0.summary = "The widget is \(code)."
                    $0.advice = "Take another widget."
                }
            }
            description.facts = [
                .with {
                    $0.name = "widget_serial"
                    $0.type = .text
                },
                .with {
                    $0.name = "widget_size"
                    $0.type = .integer
                },
            ]
            description.keys = [
                Self.key("factory", .text, required: true), Self.key("sizes", .integer) { $0.list = true },
                Self.key("colour", .word) { $0.words = ["red", "blue"] }, Self.key("age", .duration),
                Self.key("key", .secret),
                Self.key("place", .mapping) { $0.keys = [Self.key("town", .text, required: true)] },
            ]
            if mode == "keys" { description.keys.append(Self.key("Not A Key", .text)) }
            description.methods = isConsumer ? [Self.redeem] : Self.provided
            if mode == "method" { description.methods[0].name = "has space" }
            if mode == "maintains" { description.maintenanceSeconds = 1 }
            if mode == "slow" { description.limits.timeMilliseconds = 300 }
        }
    }

    private static func key(
        _ name: String, _ kind: Assay_Plugin_V1_Key.Kind, required: Bool = false,
        _ set: (inout Assay_Plugin_V1_Key) -> Void = { _ in }
    ) -> Assay_Plugin_V1_Key {
        var key = Assay_Plugin_V1_Key()
        (key.name, key.kind, key.required, key.summary) = (name, kind, required, "The \(name) of a widget.")
        set(&key)
        return key
    }

    private static func field(
        _ name: String, _ kind: Assay_Plugin_V1_Field.Kind, required: Bool = true
    ) -> Assay_Plugin_V1_Field {
        .with { ($0.name, $0.kind, $0.required) = (name, kind, required) }
    }

    private static let provided: [Assay_Plugin_V1_Method] = [
        .with { ($0.name, $0.kind) = ("generateWidgetChallenge", .challenge) },
        .with { method in
            (method.name, method.kind) = ("exchangeWidget", .exchange)
            method.request = [field("say", .text), field("evidence", .bytes, required: false)]
        },
        .with { method in
            (method.name, method.kind) = ("exchangeWidgetWithChallenge", .exchange)
            method.request = [field("challenge", .bytes), field("say", .text)]
            method.challengeField = "challenge"
            method.enclosesToken = true
            method.reply = [field("serial", .text)]
        },
        .with { method in
            (method.name, method.kind, method.verb, method.path) = ("countWidgets", .call, "GET", "/widgets")
            method.request = [field("say", .text, required: false)]
        },
    ]

    private static let redeem = Assay_Plugin_V1_Method.with { method in
        (method.name, method.kind, method.verb, method.path) = ("openDesk", .redeem, "POST", "/desk:open")
        method.request = [field("say", .text)]
    }

    // MARK: - Instances

    private func configure(
        _ request: Assay_Plugin_V1_ConfigureRequest, keeps: Bool
    ) throws -> Assay_Plugin_V1_ConfigureResponse {
        let section = try JSONSerialization.jsonObject(with: Data(request.section.utf8)) as? [String: Any] ?? [:]
        if section["factory"] as? String == "hangs" { Thread.sleep(forTimeInterval: 60) }
        if keeps { instances.withLock { _ = $0.insert(request.instance) } }
        return .with { response in
            if section["factory"] as? String == "closed" {
                response.errors = [.with { ($0.path, $0.message) = (["factory"], "this factory is closed") }]
            }
            if let sizes = section["sizes"] as? [Int], let index = sizes.firstIndex(where: { $0 > 9 }) {
                response.errors.append(.with { ($0.path, $0.message) = (["sizes", "\(index)"], "is too large") })
            }
            if section["factory"] as? String == "crowded" { response.audiences = (0...64).map { "https://\($0)" } }
            if section["factory"] as? String == "wordy" {
                response.audiences = [String(repeating: "x", count: 1025)]
            }
            if section["colour"] as? String == "red" {
                response.warnings = [.with { ($0.path, $0.message) = (["colour"], "red fades") }]
            }
        }
    }

    private func release(_ request: Assay_Plugin_V1_ReleaseRequest) -> Assay_Plugin_V1_ReleaseResponse {
        instances.withLock { _ = $0.remove(request.instance) }
        return .init()
    }

    // MARK: - Calls

    private func appraise(_ request: Assay_Plugin_V1_AppraiseRequest) async throws -> Assay_Plugin_V1_AppraiseResponse {
        let says = request.fields.first { $0.name == "say" }?.text ?? ""
        guard instances.withLock({ $0.contains(request.context.instance) }) else {
            throw GRPCFailure(.notFound, "there is no such instance")
        }
        let previous = lastCall.withLock { last in
            defer { last = request.context.call }
            return last
        }
        if says == "forged" { return .with { $0.refused = Self.refused("widget_forged") } }
        if says == "refused_facts" {
            var refused = Self.refused("widget_forged")
            refused.facts = [
                Self.fact("widget_size", "seven"), .with { $0.name = "widget_size" },
                Self.fact("widget_serial", "kept"),
            ]
            return .with { $0.refused = refused }
        }
        if says == "invalid" { return .with { $0.invalidRequest.message = "the widget is\u{1B}[2J no widget" } }
        if says == "nothing" { return .init() }
        if says == "undeclared_reason" { return .with { $0.refused = Self.refused("not_declared") } }
        var verified = Assay_Plugin_V1_Verified()
        verified.facts = [Self.fact("widget_serial", says)]
        if request.method == "exchangeWidgetWithChallenge" { verified.reply = [Self.reply("\"7\"")] }
        switch says {
        case "undeclared_fact": verified.facts = [Self.fact("caller_subject", "somebody")]
        case "wrong_type": verified.facts = [Self.fact("widget_size", "seven")]
        case "not_json": verified.reply = [Self.reply("{")]
        case "huge": verified.reply = [Self.reply("\"\(String(repeating: "x", count: 2 << 20))\"")]
        case "large": verified.reply = [Self.reply("\"\(String(repeating: "x", count: 200_000))\"")]
        case "negative": verified.tokenLifetimeSeconds = 1
        case "hour": verified.tokenLifetimeSeconds = 3600
        case "crash": exit(9)
        case "abort": abort()
        case "hang": try await Task.sleep(for: .seconds(60))
        // This thread stops at once, before it can answer.
        case "freeze": raise(SIGSTOP)
        case "ill": isIll.withLock { $0 = true }
        case "print":
            print("a line\u{1B}[2J of the plugin")
            fflush(nil)
        case "flood":
            for number in 0..<5000 { print("line \(number)") }
            fflush(nil)
        case "litter": verified.facts = [Self.fact("widget_serial", try Litter.make())]
        case "environment":
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            let inherited = files.compactMap {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))
            }
            .filter { $0.hasPrefix("/") && !$0.hasPrefix("/dev/") && !$0.hasPrefix("/proc/") }
            let names = ProcessInfo.processInfo.environment.keys.sorted().joined(separator: ",")
            let session = getsid(0) == getpid() ? "own" : "inherited"
            verified.facts = [
                Self.fact("widget_serial", "\(names) session=\(session) files=\(inherited.joined(separator: ","))")
            ]
        default: try await useHost(says, request.context.call, previous, request.context.instance, &verified)
        }
        return .with { $0.verified = verified }
    }

    /// What asks Assay for something.
    private func useHost(
        _ says: String, _ call: Data, _ previous: Data, _ instance: UInt64, _ verified: inout Assay_Plugin_V1_Verified
    ) async throws {
        guard let host = host.withLock({ $0 }) else { return }
        func store(_ set: (inout Assay_Plugin_V1_StoreRequest) -> Void) async throws -> Assay_Plugin_V1_StoreResponse {
            var request = Assay_Plugin_V1_StoreRequest()
            request.call = call
            set(&request)
            return try await host.call("Store", request, timeLimit: .seconds(300))
        }
        func state(_ text: String) { verified.facts = [Self.fact("widget_serial", text)] }
        do {
            switch says {
            case "store":
                let inserted = try await store { request in
                    request.insert.name = "once"
                    request.insert.value = Data("value".utf8)
                }
                let found = try await store { $0.get = "once" }
                let listed = try await store { $0.list.limit = 10 }
                _ = try await store { request in
                    request.advance.name = "counter"
                    request.advance.value = 7
                }
                state(
                    "\(inserted.done) \(String(decoding: found.value, as: UTF8.self)) \(listed.entries.map(\.name).joined())"
                )
            case "write":
                for number in 0..<100 { _ = try await store { $0.put.name = "name \(number)" } }
            case "ask":
                for _ in 0..<300 { _ = try await store { $0.get = "nothing" } }
            case "seal":
                let sealed: Assay_Plugin_V1_SealResponse = try await host.call(
                    "Seal", Assay_Plugin_V1_SealRequest.with { ($0.call, $0.plaintext) = (call, Data("plain".utf8)) },
                    timeLimit: .seconds(300))
                let opened: Assay_Plugin_V1_OpenResponse = try await host.call(
                    "Open", Assay_Plugin_V1_OpenRequest.with { ($0.call, $0.sealed) = (call, sealed.sealed) },
                    timeLimit: .seconds(300))
                state("\(opened.genuine) \(String(decoding: opened.plaintext, as: UTF8.self))")
            case "secret", "other_secret":
                let secret: Assay_Plugin_V1_SecretResponse = try await host.call(
                    "Secret",
                    Assay_Plugin_V1_SecretRequest.with {
                        ($0.instance, $0.reference) = (instance, says == "secret" ? "env:WIDGET_KEY" : "env:PATH")
                    }, timeLimit: .seconds(300))
                state("\(secret.value.count) bytes")
            case "fetch":
                let answer: Assay_Plugin_V1_FetchResponse = try await host.call(
                    "Fetch",
                    Assay_Plugin_V1_FetchRequest.with {
                        ($0.call, $0.method, $0.url) = (call, "GET", "https://widgets.example.com/")
                    }, timeLimit: .seconds(300))
                state("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
            case "previous":
                let answer: Assay_Plugin_V1_StoreResponse = try await host.call(
                    "Store", Assay_Plugin_V1_StoreRequest.with { ($0.call, $0.get) = (previous, "once") },
                    timeLimit: .seconds(300))
                state("\(answer.done)")
            case "log":
                let _: Assay_Plugin_V1_LogResponse = try await host.call(
                    "Log", Assay_Plugin_V1_LogRequest.with { ($0.call, $0.message) = (call, "a word\nof the plugin") },
                    timeLimit: .seconds(300))
            default: break
            }
        } catch let failure as GRPCFailure {
            state("\(failure.code): \(failure.message)")
        }
    }

    private func respond(_ request: Assay_Plugin_V1_AnswerRequest) async throws -> Assay_Plugin_V1_AnswerResponse {
        let says = request.fields.first { $0.name == "say" }?.text ?? ""
        switch says {
        case "forged": return .with { $0.refused = Self.refused("widget_forged") }
        case "invalid": return .with { $0.invalidRequest.message = "no" }
        case "list": return .with { $0.reply.message = "[1]" }
        default:
            return .with { response in
                let count = instances.withLock(\.count)
                response.reply.message = "{\"instances\": \(count), \"subject\": \"\(request.token.subject)\"}"
                response.reply.facts = [Self.fact("widget_serial", "answered")]
            }
        }
    }

    private func maintain(_ request: Assay_Plugin_V1_MaintainRequest) async throws -> Assay_Plugin_V1_MaintainResponse {
        guard let host = host.withLock({ $0 }) else { return .init() }
        let _: Assay_Plugin_V1_StoreResponse = try await host.call(
            "Store",
            Assay_Plugin_V1_StoreRequest.with {
                $0.call = request.context.call
                $0.put.name = "maintained"
            }, timeLimit: .seconds(300))
        return .init()
    }

    private static func reply(_ json: String) -> Assay_Plugin_V1_ReplyField {
        .with { ($0.name, $0.json) = ("serial", json) }
    }

    private static func refused(_ code: String) -> Assay_Plugin_V1_Refused {
        .with { ($0.reason, $0.detail) = (code, "a detail") }
    }

    private static func fact(_ name: String, _ text: String) -> Assay_Plugin_V1_Fact {
        .with { ($0.name, $0.text) = (name, text) }
    }
}
#endif
