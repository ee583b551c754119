internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import Logging
internal import NIOCore
internal import SwiftProtobuf
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a plugin's process may ask of Assay, always for a call that it is serving and within the limits of that call.
final class HostService: Sendable {
    /// A call that the process is serving.
    final class OpenCall: Sendable {
        let host: PluginHost
        let state: StateSpace?
        let sealer: Sealer?
        let deadline: Instant
        let logger: Logger
        /// What the call has used of its limits.
        let budget: CallBudget?
        fileprivate let requests = Atomic(0)

        init(_ host: PluginHost, state: StateSpace?, sealer: Sealer?, deadline: Instant, logger: Logger) {
            self.host = host
            self.state = state
            self.sealer = sealer
            self.deadline = deadline
            self.logger = logger
            budget = CallBudget.current
        }
    }

    /// What a call may ask in all.
    static let requestLimit = 256
    private static let linesPerSecond = 100
    private static let nameLimit = 256
    private static let valueLimit = 64 * 1024
    private static let listLimit = 100

    private let logger: Logger
    private let calls = Mutex<[[UInt8]: OpenCall]>([:])
    /// The secrets that each instance's section names.
    private let secrets = Mutex<[UInt64: (source: SecretSource, references: Set<SecretReference>)]>([:])
    private let lines = Mutex<(second: ContinuousClock.Instant, count: Int)>((.now, 0))

    init(logger: Logger) {
        self.logger = logger
    }

    /// Text of a process in one line, without what steers a terminal.
    static func line(_ text: String, limit: Int = 512) -> String { PlainText.line(text, limit: limit) }

    // MARK: - Calls

    /// Begins a call, which the process may cite until ``end(_:)``.
    func begin(_ call: OpenCall) -> [UInt8] {
        let id = call.host.randomness.bytes(16)
        calls.withLock { $0[id] = call }
        return id
    }

    func end(_ id: [UInt8]) {
        _ = calls.withLock { $0.removeValue(forKey: id) }
    }

    /// Allows an instance the secrets that its section names.
    func allow(_ references: Set<SecretReference>, from source: SecretSource, for instance: UInt64) {
        secrets.withLock { $0[instance] = (source, references) }
    }

    func forget(_ instance: UInt64) {
        _ = secrets.withLock { $0.removeValue(forKey: instance) }
    }

    // MARK: - Methods

    /// Answers a request of the process.
    ///
    /// - Throws: `GRPCFailure`.
    func answer(_ method: String, _ request: [UInt8]) async throws -> ByteBuffer {
        switch HostMethod(exactly: method) {
        case .now: try GRPCMessage.encode(now(Self.read(request)))
        case .store: try GRPCMessage.encode(try await store(Self.read(request)))
        case .seal: try GRPCMessage.encode(seal(Self.read(request)))
        case .open: try GRPCMessage.encode(open(Self.read(request)))
        case .fetch: try GRPCMessage.encode(try await fetch(Self.read(request)))
        case .secret: try GRPCMessage.encode(secret(Self.read(request)))
        case .log: try GRPCMessage.encode(log(Self.read(request)))
        case nil: throw GRPCFailure(.unimplemented, "there is no such method")
        }
    }

    private enum HostMethod: String, CaseIterable {
        case now = "Now"
        case store = "Store"
        case seal = "Seal"
        case open = "Open"
        case fetch = "Fetch"
        case secret = "Secret"
        case log = "Log"
    }

    private static func read<Request: Message>(_ bytes: [UInt8]) throws -> Request {
        do {
            return try Request(serializedBytes: bytes)
        } catch {
            throw GRPCFailure(.invalidArgument, "the message is not of the method's form")
        }
    }

    /// The call that a request cites, which counts the request.
    private func call(_ id: [UInt8]) throws -> OpenCall {
        guard let call = calls.withLock({ $0[id] }) else {
            throw GRPCFailure(.notFound, "no such call is being served")
        }
        guard call.requests.add(1, ordering: .relaxed).newValue <= Self.requestLimit else {
            throw GRPCFailure(
                .resourceExhausted, "the call has made all \(Self.requestLimit) requests that it may make")
        }
        return call
    }

    private func now(_ request: Assay_Plugin_V1_NowRequest) -> Assay_Plugin_V1_NowResponse {
        var response = Assay_Plugin_V1_NowResponse()
        response.milliseconds = HostClock.system.now.milliseconds
        return response
    }

    private func store(_ request: Assay_Plugin_V1_StoreRequest) async throws -> Assay_Plugin_V1_StoreResponse {
        let call = try call(Array(request.call))
        guard let state = call.state else { throw GRPCFailure(.failedPrecondition, "the call has no state") }
        guard let operation = request.operation else { throw GRPCFailure(.invalidArgument, "there is no operation") }
        do {
            return try await CallBudget.$current.withValue(call.budget) { try await Self.perform(operation, state) }
        } catch let error as GRPCFailure {
            throw error
        } catch {
            throw GRPCFailure(.unavailable, Self.line("\(error)"))
        }
    }

    private static func perform(
        _ operation: Assay_Plugin_V1_StoreRequest.OneOf_Operation, _ state: StateSpace
    ) async throws -> Assay_Plugin_V1_StoreResponse {
        func name(_ text: String) throws -> String {
            guard (1...nameLimit).contains(text.utf8.count) else {
                throw GRPCFailure(.invalidArgument, "a name has 1 to \(nameLimit) bytes")
            }
            return text
        }
        func value(_ entry: Assay_Plugin_V1_StoreRequest.Entry) throws -> ([UInt8], Instant?) {
            guard entry.value.count <= valueLimit else {
                throw GRPCFailure(.invalidArgument, "a value has at most \(valueLimit) bytes")
            }
            return (Array(entry.value), entry.expires == 0 ? nil : Instant(milliseconds: entry.expires))
        }
        var response = Assay_Plugin_V1_StoreResponse()
        switch operation {
        case .get(let text):
            if let bytes = try await state.get(try name(text)) {
                response.done = true
                response.value = Data(bytes)
            }
        case .insert(let entry):
            let (bytes, expires) = try value(entry)
            response.done = try await state.insert(try name(entry.name), value: bytes, expires: expires)
        case .put(let entry):
            let (bytes, expires) = try value(entry)
            try await state.put(try name(entry.name), value: bytes, expires: expires)
            response.done = true
        case .remove(let text):
            try await state.put(try name(text), value: nil)
            response.done = true
        case .advance(let advance):
            response.done = try await state.advance(try name(advance.name), to: advance.value)
        case .list(let list):
            guard (1...listLimit).contains(Int(list.limit)) else {
                throw GRPCFailure(.invalidArgument, "a list has a limit from 1 to \(listLimit)")
            }
            let entries = try await state.list(after: list.after.isEmpty ? nil : list.after, limit: Int(list.limit))
            response.entries = entries.map { found in
                var entry = Assay_Plugin_V1_StoreRequest.Entry()
                entry.name = found.name
                entry.value = Data(found.value)
                return entry
            }
        }
        return response
    }

    private func seal(_ request: Assay_Plugin_V1_SealRequest) throws -> Assay_Plugin_V1_SealResponse {
        let call = try call(Array(request.call))
        guard let sealer = call.sealer else {
            throw GRPCFailure(.failedPrecondition, "only a provider's calls can seal")
        }
        var response = Assay_Plugin_V1_SealResponse()
        do {
            response.sealed = Data(try sealer.seal(Array(request.plaintext)))
        } catch {
            throw GRPCFailure(.unavailable, Self.line("\(error)"))
        }
        return response
    }

    private func open(_ request: Assay_Plugin_V1_OpenRequest) throws -> Assay_Plugin_V1_OpenResponse {
        let call = try call(Array(request.call))
        guard let sealer = call.sealer else {
            throw GRPCFailure(.failedPrecondition, "only a provider's calls can open")
        }
        var response = Assay_Plugin_V1_OpenResponse()
        if let plaintext = sealer.open(Array(request.sealed)) {
            response.genuine = true
            response.plaintext = Data(plaintext)
        }
        return response
    }

    private func fetch(_ request: Assay_Plugin_V1_FetchRequest) async throws -> Assay_Plugin_V1_FetchResponse {
        let call = try call(Array(request.call))
        guard let url = EndpointURL(request.url) else {
            throw GRPCFailure(.invalidArgument, "the URL is none: https is needed, or http on this machine")
        }
        guard let method = OutboundRequest.Method(exactly: request.method) else {
            throw GRPCFailure(.invalidArgument, "the method is not one that can be called")
        }
        guard request.headers.count <= 64 else { throw GRPCFailure(.invalidArgument, "there are more than 64 headers") }
        // The plugin hears of a server that does not answer while it can still answer itself.
        let most = max(.zero, call.deadline - call.host.clock.now) * 9 / 10
        let asked = Duration.milliseconds(Int64(request.timeMilliseconds))
        let outbound = OutboundRequest(
            method, url, headers: request.headers.map { OutboundHeader($0.name, $0.value) }, body: Array(request.body),
            timeLimit: asked > .zero ? min(asked, most) : most, responseLimit: 128 * 1024)
        let answer: OutboundResponse
        do {
            answer = try await CallBudget.$current.withValue(call.budget) { try await call.host.http.send(outbound) }
        } catch {
            throw GRPCFailure(.unavailable, Self.line("\(error)"))
        }
        var response = Assay_Plugin_V1_FetchResponse()
        response.status = Int32(answer.status)
        response.body = Data(answer.body)
        response.headers = answer.headers.map { header in
            var copy = Assay_Plugin_V1_Header()
            (copy.name, copy.value) = (header.name, header.value)
            return copy
        }
        return response
    }

    private func secret(_ request: Assay_Plugin_V1_SecretRequest) throws -> Assay_Plugin_V1_SecretResponse {
        guard let reference = SecretReference(request.reference),
            let known = secrets.withLock({ $0[request.instance] }), known.references.contains(reference)
        else { throw GRPCFailure(.permissionDenied, "the instance's section does not have this reference") }
        var response = Assay_Plugin_V1_SecretResponse()
        do {
            guard let value = try known.source.resolve(reference) else {
                throw GRPCFailure(.notFound, "\(reference) has no value")
            }
            response.value = Data(value)
        } catch let error as SecretError {
            throw GRPCFailure(.unavailable, Self.line("\(error)"))
        }
        return response
    }

    private func log(_ request: Assay_Plugin_V1_LogRequest) throws -> Assay_Plugin_V1_LogResponse {
        let now = ContinuousClock.now
        let isAllowed = lines.withLock { lines in
            if now - lines.second >= .seconds(1) { lines = (now, 0) }
            lines.count += 1
            return lines.count <= Self.linesPerSecond
        }
        guard isAllowed else {
            throw GRPCFailure(.resourceExhausted, "more than \(Self.linesPerSecond) lines are logged in a second")
        }
        let logger = request.call.isEmpty ? logger : try call(Array(request.call)).logger
        let level: Logger.Level =
            switch request.level {
            case .debug: .debug
            case .warning: .warning
            case .error: .error
            default: .info
            }
        logger.log(level: level, "\(Self.line(request.message, limit: 4096))")
        return Assay_Plugin_V1_LogResponse()
    }
}
