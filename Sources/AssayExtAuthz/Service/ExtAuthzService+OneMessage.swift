internal import AssayCore
internal import AssayKit
internal import SwiftProtobuf

@_spi(Fuzzing) extension ExtAuthzService {
    /// The answer to Envoy about one request.
    public struct Judgement: Sendable {
        /// The code of google.rpc.Code; 0 allows the request.
        public let code: Int
        /// The HTTP status of a denial.
        public let status: Int?
        /// The headers that are set in the request, or in the response of a denial.
        public let headers: [(name: [UInt8], value: [UInt8])]
        /// The headers that are removed from the request.
        public let removed: [[UInt8]]
    }

    /// Judges one message as a call of `Check` does; nil when the bytes are not a message.
    public func judge(_ message: [UInt8]) async -> Judgement? {
        guard let request = try? Envoy_Service_Auth_V3_CheckRequest(serializedBytes: message) else { return nil }
        let answer: AuthorizationAnswer
        do throws(UnreadableCheck) {
            let question = try AuthorizationQuestion(request, method: method, limits: configuration.limits)
            answer = AuthorizationAnswer(
                await handler.handle(question.call), findings: method.findings, claimed: question.claimed,
                forwardsToken: configuration.forwardsToken)
        } catch {
            answer = AuthorizationAnswer(error)
        }
        let response = answer.response
        let (options, removed, status) =
            switch response.httpResponse {
            case .okResponse(let leave): (leave.headers, leave.headersToRemove, nil as Int?)
            case .deniedResponse(let denial): (denial.headers, [], Int(denial.status.code))
            case nil: ([], [], nil as Int?)
            }
        return Judgement(
            code: Int(response.status.code), status: status,
            headers: options.map { (Array($0.header.key), Array($0.header.value)) },
            removed: removed.map { Array($0.utf8) })
    }
}
