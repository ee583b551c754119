internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import Logging

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An instance of a plugin in another process.
final class RemoteInstance: Sendable {
    private let number: UInt64
    private let process: PluginProcess
    private let host: PluginHost
    private let isKept: Bool

    /// - Parameter secrets: what the instance may ask for.
    init(
        _ number: UInt64, of process: PluginProcess, _ host: PluginHost, isKept: Bool, secrets: Set<SecretReference>
    ) {
        self.number = number
        self.process = process
        self.host = host
        self.isKept = isKept
        if isKept { process.host.allow(secrets, from: host.secrets, for: number) }
    }

    deinit {
        if isKept { process.release(number) }
    }

    // MARK: - Providers

    func exchange(
        _ method: Assay_Plugin_V1_Method, _ fields: RequestFields
    ) throws(InvalidRequest) -> PreparedExchange {
        let values = try Self.values(method.request, of: fields)
        let challenge = method.challengeField.isEmpty ? nil : try fields.bytes(method.challengeField)
        return PreparedExchange(challenge: challenge) { context in
            var request = Assay_Plugin_V1_AppraiseRequest()
            request.method = method.name
            request.fields = values
            if let challenge = context.challenge { request.challenge = Data(challenge) }
            let reply: Assay_Plugin_V1_AppraiseResponse = try await self.during(context) { call in
                request.context = call
                return try await self.process.call("Appraise", request, timeLimit: context.timeLeft)
            }
            return try Verdict(reply, of: self.process)
        }
    }

    func call(_ method: Assay_Plugin_V1_Method, _ fields: RequestFields) throws(InvalidRequest) -> PreparedCall {
        let values = try Self.values(method.request, of: fields)
        return PreparedCall { context in
            var request = Assay_Plugin_V1_AnswerRequest()
            request.method = method.name
            request.fields = values
            let reply: Assay_Plugin_V1_AnswerResponse = try await self.during(context) { call in
                request.context = call
                return try await self.process.call("Answer", request, timeLimit: context.timeLeft)
            }
            switch reply.answer {
            case .reply(let reply)?:
                return CallAnswer(try reply.json(self.process), facts: try reply.facts.map { try Fact($0) })
            case .invalidRequest(let problem)?: throw InvalidRequest(HostService.line(problem.message))
            case .refused?: throw PluginFault("the plugin refused a call of its management, which has no verdict")
            case nil: throw PluginFault("the plugin answered nothing")
            }
        }
    }

    private func during<Reply>(
        _ context: ProviderContext, _ body: (Assay_Plugin_V1_Context) async throws -> Reply
    ) async throws -> Reply {
        let call = HostService.OpenCall(
            host, state: context.state, sealer: context.sealer, deadline: context.deadline, logger: context.logger)
        return try await during(call) { id in
            var message = message(id)
            message.decision = "\(context.decision)"
            message.nowMilliseconds = context.now.milliseconds
            message.peer = context.peer ?? ""
            if let began = context.state.beginning { message.stateBeganMilliseconds = began.milliseconds }
            return try await body(message)
        }
    }

    // MARK: - Consumers

    func redeem(_ method: Assay_Plugin_V1_Method, _ fields: RequestFields) throws -> PreparedRequest {
        let values = try Self.values(method.request, of: fields)
        return PreparedRequest { context in
            var request = Assay_Plugin_V1_AnswerRequest()
            request.method = method.name
            request.fields = values
            if let token = context.token {
                request.token.app = context.app?.resource ?? ""
                request.token.subject = token.subject
                request.token.id = token.id
                request.token.issuedAt = token.issued.milliseconds / 1000
                request.token.expiresAt = token.expires.milliseconds / 1000
            }
            let call = HostService.OpenCall(
                self.host, state: context.state, sealer: nil, deadline: context.deadline, logger: context.logger)
            let reply: Assay_Plugin_V1_AnswerResponse = try await self.during(call) { id in
                request.context = self.message(id)
                request.context.decision = "\(context.decision)"
                request.context.nowMilliseconds = context.now.milliseconds
                request.context.peer = context.peer ?? ""
                if let began = context.state.beginning { request.context.stateBeganMilliseconds = began.milliseconds }
                return try await self.process.call("Answer", request, timeLimit: context.timeLeft)
            }
            switch reply.answer {
            case .reply(let reply)?:
                return .granted(
                    ConsumerReply(try reply.json(self.process), facts: try reply.facts.map { try Fact($0) }))
            case .refused(let refused)?:
                return .refused(self.process.reason(refused.reason), detail: refused.text)
            case .invalidRequest(let problem)?: throw InvalidRequest(HostService.line(problem.message))
            case nil: throw PluginFault("the plugin answered nothing")
            }
        }
    }

    // MARK: - Maintenance

    func maintain(_ context: MaintenanceContext) async throws {
        let call = HostService.OpenCall(
            host, state: context.state, sealer: nil, deadline: context.deadline, logger: context.logger)
        _ = try await during(call) { id -> Assay_Plugin_V1_MaintainResponse in
            var request = Assay_Plugin_V1_MaintainRequest()
            request.context = self.message(id)
            request.context.nowMilliseconds = context.clock.now.milliseconds
            let timeLeft = max(.zero, context.deadline - context.clock.now)
            return try await self.process.call("Maintain", request, timeLimit: timeLeft)
        }
    }

    // MARK: - Parts

    private func during<Reply>(
        _ call: HostService.OpenCall, _ body: ([UInt8]) async throws -> Reply
    ) async throws -> Reply {
        let id = process.host.begin(call)
        defer { process.host.end(id) }
        return try await body(id)
    }

    private func message(_ id: [UInt8]) -> Assay_Plugin_V1_Context {
        var message = Assay_Plugin_V1_Context()
        message.call = Data(id)
        message.instance = number
        return message
    }

    /// The declared fields that a request has.
    private static func values(
        _ declared: [Assay_Plugin_V1_Field], of fields: RequestFields
    ) throws(InvalidRequest) -> [Assay_Plugin_V1_FieldValue] {
        var values: [Assay_Plugin_V1_FieldValue] = []
        for field in declared {
            let isThere = try fields.has(field.name)
            guard field.required || isThere else { continue }
            var value = Assay_Plugin_V1_FieldValue()
            value.name = field.name
            switch field.kind {
            case .bytes: value.bytes = Data(try fields.bytes(field.name))
            case .boolean: value.boolean = try fields.bool(field.name)
            case .integer:
                guard let number = try fields.integer(field.name) else {
                    throw InvalidRequest("the field \(field.name) is missing")
                }
                value.integer = number
            case .duration:
                guard let duration = try fields.duration(field.name) else {
                    throw InvalidRequest("the field \(field.name) is missing")
                }
                value.duration = duration.wholeMilliseconds
            case .texts: value.texts.texts = try fields.strings(field.name)
            default: value.text = try fields.string(field.name)
            }
            values.append(value)
        }
        return values
    }
}

extension PluginProcess {
    /// The declared reason with a code; the kernel finds out when there is none.
    func reason(_ code: String) -> Reason { Reason(code, "") }
}

extension Assay_Plugin_V1_Refused {
    /// The detail for operators; nil when there is none.
    fileprivate var text: String? { detail.isEmpty ? nil : HostService.line(detail) }
}

extension Assay_Plugin_V1_Reply {
    fileprivate func json(_ process: PluginProcess) throws -> JSON {
        guard let object = try? JSON.parse(Array(message.utf8), limits: JSON.Limits(bytes: 1 << 20)),
            object.members != nil
        else { throw PluginFault("the plugin \(process.settings.name) replied with something else than a JSON object") }
        return object
    }
}

extension Verdict {
    fileprivate init(_ reply: Assay_Plugin_V1_AppraiseResponse, of process: PluginProcess) throws {
        switch reply.verdict {
        case .verified(let verified)?:
            let fields = try verified.reply.map { field in
                guard let value = try? JSON.parse(Array(field.json.utf8), limits: JSON.Limits(bytes: 1 << 20)) else {
                    throw PluginFault(
                        "the plugin \(process.settings.name) replied with a field that is not JSON")
                }
                return ReplyField(field.name, value)
            }
            self = .verified(
                Appraisal(
                    facts: try verified.facts.map { try Fact($0) }, reply: fields,
                    tokenLifetime: verified.tokenLifetimeSeconds == 0
                        ? nil : .seconds(Int64(verified.tokenLifetimeSeconds)),
                    holder: verified.holder.isEmpty ? nil : verified.holder))
        case .refused(let refused)?:
            // What could be read of evidence need not be right: a fact without a value is dropped, as the kernel drops ill-typed ones.
            let empty = refused.facts.first { $0.value == nil }.map {
                "dropped facts without values, such as \(HostService.line($0.name))"
            }
            let detail = [refused.text, empty].compactMap(\.self)
            self = .refused(
                process.reason(refused.reason), detail: detail.isEmpty ? nil : detail.joined(separator: "; "),
                facts: try refused.facts.filter { $0.value != nil }.map { try Fact($0) })
        case .invalidRequest(let problem)?: throw InvalidRequest(HostService.line(problem.message))
        case nil: throw PluginFault("the plugin \(process.settings.name) answered without a verdict")
        }
    }
}

extension Fact {
    fileprivate init(_ fact: Assay_Plugin_V1_Fact) throws {
        let value: Fact.Value
        switch fact.value {
        case .text(let text)?: value = .text(text)
        case .integer(let number)?: value = .integer(number)
        case .boolean(let isTrue)?: value = .bool(isTrue)
        case .instant(let milliseconds)?: value = .instant(Instant(milliseconds: milliseconds))
        case .duration(let milliseconds)?: value = .duration(.milliseconds(milliseconds))
        case nil: throw PluginFault("the plugin stated a fact without a value")
        }
        self.init(FactName(fact.name), value)
    }
}
