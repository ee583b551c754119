internal import AssayCore
internal import AssayKit
internal import SwiftProtobuf

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The answer to Envoy.
///
/// The status is always set: Envoy treats a response without one as permission. If no decision is possible, the answer
/// is a denial, not a failed call, because Envoy may be configured to allow requests after a failed call
/// (`failure_mode_allow`).
struct AuthorizationAnswer {
    let response: Envoy_Service_Auth_V3_CheckResponse
    /// Whether it denies an allowed request, because the findings cannot be passed on.
    private(set) var isUntold = false

    /// The HTTP status for the client of an unreadable check.
    static let unreadableStatus = UInt(statuses(.invalidArgument).status)

    /// Envoy refuses longer values.
    private static let longestValue = 16_384
    /// The mark that Envoy sets for the backend on a request that it allows without a decision.
    ///
    /// Here a decision was made.
    private static let failureMark: ExactText = "x-envoy-auth-failure-mode-allowed"

    /// - Parameters:
    ///   - findings: the headers that carry fields of the reply to the backend.
    ///   - claimed: names of the client's headers that a backend might mistake for those.
    init(_ reply: Reply, findings: [HTTPBinding.Header], claimed: Set<ExactText>, forwardsToken: Bool) {
        switch reply.result {
        case .success(let message):
            if let leave = Self.leave(message, findings: findings, claimed: claimed, forwardsToken: forwardsToken) {
                response = leave
            } else {
                response = Self.denial(CallFailure(.internalError, "Internal error."), decision: reply.decision)
                isUntold = true
            }
        case .failure(let failure):
            response = Self.denial(failure, decision: reply.decision)
        }
    }

    /// The answer to a check that could not be read.
    init(_: UnreadableCheck) {
        response = Self.denial(CallFailure(.invalidArgument, "The check cannot be read."), decision: nil)
    }

    /// Nil when the message has a value that no header can carry.
    private static func leave(
        _ message: JSON, findings: [HTTPBinding.Header], claimed: Set<ExactText>, forwardsToken: Bool
    ) -> Envoy_Service_Auth_V3_CheckResponse? {
        guard message.members != nil else { return nil }
        var leave = Envoy_Service_Auth_V3_OkHttpResponse()
        var removed = claimed.union(findings.map { ExactText($0.name) }).union([failureMark])
        if !forwardsToken { removed.insert(ExactText(CheckHeaders.token)) }
        for finding in findings {
            let value: String
            switch message[finding.field] {
            case nil, .null?: continue
            case .string(let text)?: value = text
            case .bool(let isTrue)?: value = isTrue ? "true" : "false"
            default: return nil
            }
            guard !value.isEmpty, value.utf8.count <= longestValue, isHeaderValue(value) else { return nil }
            leave.headers.append(header(ExactText(finding.name), value))
            removed.remove(ExactText(finding.name))
        }
        leave.headersToRemove = removed.sorted().map(\.string)
        var response = Envoy_Service_Auth_V3_CheckResponse()
        response.status = .with { $0.code = 0 }
        response.okResponse = leave
        return response
    }

    private static func denial(_ failure: CallFailure, decision: DecisionID?) -> Envoy_Service_Auth_V3_CheckResponse {
        let (code, status) = statuses(failure.status)
        var headers: [ExactText: String] = [:]
        for metadata in failure.metadata where isHeaderName(metadata.name) {
            headers[ExactText(metadata.name)] = metadata.value
        }
        if failure.status == .unauthenticated, headers["www-authenticate"].isNil {
            headers["www-authenticate"] = "AppCheck realm=\"assay\", error=\"invalid_token\""
        }
        if let wait = failure.retryAfter { headers["retry-after"] = String(wholeSeconds(wait)) }
        if let decision { headers["x-assay-decision"] = decision.text }
        var response = Envoy_Service_Auth_V3_CheckResponse()
        response.status = .with {
            $0.code = code
            $0.message = failure.message
        }
        response.deniedResponse = .with { denial in
            denial.status.code = status
            denial.headers = headers.sorted { $0.key < $1.key }
                .filter { $0.value.utf8.count <= longestValue && isHeaderValue($0.value) }
                .map { header($0.key, $0.value) }
        }
        return response
    }

    /// The code of google.rpc.Code, and the HTTP status.
    ///
    /// A failure that may pass soon is 503.
    private static func statuses(_ status: StatusCode) -> (code: Int32, status: Int32) {
        switch status {
        case .unauthenticated: (16, 401)
        case .unavailable, .internalError, .aborted, .resourceExhausted: (14, 503)
        case .invalidArgument, .failedPrecondition, .permissionDenied, .notFound, .alreadyExists, .unimplemented:
            (7, 403)
        }
    }

    private static func header(_ name: ExactText, _ value: String) -> Envoy_Config_Core_V3_HeaderValueOption {
        .with { option in
            option.header.key = Data(name.string.utf8)
            option.header.value = Data(value.utf8)
            option.appendAction = .overwriteIfExistsOrAdd
        }
    }

    private static func isHeaderName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
    }

    private static func isHeaderValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Rounded up, and at least one, so that a retry does not come too early.
    private static func wholeSeconds(_ duration: Duration) -> Int64 {
        let (seconds, fraction) = duration.components
        return max(1, min(seconds, .max - 1) + (fraction > 0 ? 1 : 0))
    }
}
