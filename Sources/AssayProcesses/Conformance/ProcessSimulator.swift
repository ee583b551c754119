#if Simulator
internal import AssayCore
internal import AssayKit
internal import AssayTesting
internal import SwiftProtobuf

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The simulated devices or clients of a plugin, which its process has too: the service `Simulator`.
struct ProcessSimulator: Sendable {
    let process: PluginProcess

    /// For one answer; the suites' own clock stands still meanwhile.
    private static let timeLimit = Duration.seconds(30)
    /// How many calls may be made before a genuine one.
    private static let firstCalls = 16

    /// What is wrong with a simulated device, in words.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A genuine request that is to be made.
    struct Order: Sendable {
        let method: String
        let app: TestApp
        let platform: String
        let client: Int
        let challenge: [UInt8]
        let now: Instant
        /// The adversary whose request it is; nil for a genuine one.
        var adversary: String?
        /// Makes a call of another method, and returns its reply.
        let call: @Sendable (_ method: String, _ body: JSON) async throws -> JSON
    }

    /// What the suite needs to know.
    ///
    /// - Throws: ``Failure`` when the process has no simulator, or says something impossible.
    func subject() async throws -> (subject: Assay_Plugin_V1_SubjectResponse, platform: String) {
        var platform = "ios"
        var subject = try await ask(platform)
        if !subject.platform.isEmpty, !subject.platform.isExactly(platform) {
            platform = subject.platform
            let isName = platform.utf8.count <= 32 && platform.utf8.allSatisfy { $0.isASCIILowercase }
            guard isName else { throw Failure(description: "the platform is not lower-case letters") }
            subject = try await ask(platform)
        }
        guard subject.sections.count == TestApp.allCases.count else {
            throw Failure(
                description: "\(subject.sections.count) sections were made for \(TestApp.allCases.count) apps")
        }
        guard !subject.requests.isEmpty else { throw Failure(description: "no genuine requests are named") }
        for secret in subject.secrets where SecretReference(secret.reference) == nil {
            throw Failure(description: "'\(HostService.line(secret.reference, limit: 80))' is no reference to a secret")
        }
        return (subject, platform)
    }

    private func ask(_ platform: String) async throws -> Assay_Plugin_V1_SubjectResponse {
        var request = Assay_Plugin_V1_SubjectRequest()
        request.apps = TestApp.allCases.map { $0.message(platform) }
        do {
            return try await call("Subject", request)
        } catch let failure as GRPCFailure where failure.code == .unimplemented {
            throw Failure(
                description: """
                    the process does not serve `assay.plugin.v1.Simulator`, which makes the genuine requests that the checks \
                    begin with
                    """)
        }
    }

    /// The body of a genuine request, after the calls that must be made before it.
    func body(_ order: Order) async throws -> JSON {
        var request = Assay_Plugin_V1_MakeRequestRequest()
        request.method = order.method
        request.app = order.app.message(order.platform)
        request.client = UInt32(order.client)
        request.challenge = Data(order.challenge)
        request.nowMilliseconds = order.now.milliseconds
        request.adversary = order.adversary ?? ""
        while true {
            let reply: Assay_Plugin_V1_MakeRequestResponse = try await call("MakeRequest", request)
            switch reply.next {
            case .body(let text)?: return try Self.object(text)
            case .first(let first)?:
                guard request.replies.count < Self.firstCalls else {
                    throw Failure(description: "the simulator asks for more than \(Self.firstCalls) calls before one")
                }
                let answer = try await order.call(first.method, try Self.object(first.body))
                request.replies.append(String(decoding: answer.encoded, as: UTF8.self))
            case nil: throw Failure(description: "the simulator made no request of \(order.method)")
            }
        }
    }

    /// The answer of the genuine server; what is wrong with the simulator is an answer of status 500.
    func respond(_ outbound: OutboundRequest) async -> OutboundResponse {
        var request = Assay_Plugin_V1_FetchRequest()
        request.method = outbound.method.rawValue
        request.url = "\(outbound.url)"
        request.headers = outbound.headers.map { header in .with { ($0.name, $0.value) = (header.name, header.value) } }
        request.body = Data(outbound.body)
        do {
            let reply: Assay_Plugin_V1_FetchResponse = try await call("Respond", request)
            return OutboundResponse(
                status: Int(reply.status), headers: reply.headers.map { OutboundHeader($0.name, $0.value) },
                body: Array(reply.body))
        } catch {
            return OutboundResponse(status: 500, body: Array("\(error)".utf8))
        }
    }

    private func call<Reply: Message>(_ method: String, _ request: some Message) async throws -> Reply {
        try await process.connection().call(
            method, of: "assay.plugin.v1.Simulator", request, timeLimit: Self.timeLimit)
    }

    private static func object(_ text: String) throws -> JSON {
        guard let object = try? JSON.parse(Array(text.utf8), limits: JSON.Limits(bytes: 1 << 20)),
            object.members != nil
        else { throw Failure(description: "the simulator made something else than a JSON object") }
        return object
    }
}

extension TestApp {
    fileprivate func message(_ platform: String) -> Assay_Plugin_V1_TestApp {
        .with { message in
            message.number = UInt32(rawValue)
            message.app = id(platform: platform)
            message.projectNumber = "\(projectNumber)"
            message.projectID = projectID
        }
    }
}
#endif
