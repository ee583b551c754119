#if canImport(ObjectiveC)
internal import Foundation

/// The kinds of errors: the codes of errors whose domain is ``ObjCAppCheck/errorDomain``.
///
/// New versions may add kinds.
@objc(ASYAppCheckErrorCode) public enum ObjCAppCheckErrorCode: Int {
    /// A kind that this list lacks.
    case other = 0
    case invalidConfiguration, unreachable, timedOut, refused, notConfigured, rejected, throttled, unavailable
    case redirected, malformedReply, foreignToken, expiredOnArrival, unsupportedDevice, deviceFailed
    case providerFailed, keyChanged, tooManyCallers, insecure, cancelled

    init(_ code: AppCheckError.Code) {
        let names: [(AppCheckError.Code, ObjCAppCheckErrorCode)] = [
            (.invalidConfiguration, .invalidConfiguration), (.unreachable, .unreachable), (.timedOut, .timedOut),
            (.refused, .refused), (.notConfigured, .notConfigured), (.rejected, .rejected), (.throttled, .throttled),
            (.unavailable, .unavailable), (.redirected, .redirected), (.malformedReply, .malformedReply),
            (.foreignToken, .foreignToken), (.expiredOnArrival, .expiredOnArrival),
            (.unsupportedDevice, .unsupportedDevice), (.deviceFailed, .deviceFailed),
            (.providerFailed, .providerFailed), (.keyChanged, .keyChanged), (.tooManyCallers, .tooManyCallers),
            (.insecure, .insecure), (.cancelled, .cancelled),
        ]
        self = names.first { $0.0 == code }?.1 ?? .other
    }
}

extension ObjCAppCheck {
    /// The domain of errors.
    @objc public static var errorDomain: String { "AssayAppCheckErrorDomain" }
    /// The key of the identifier by which the server's operator finds the reason, a text.
    @objc public static var errorDecisionKey: String { "AssayAppCheckDecision" }
    /// The key of the seconds for which nothing is sent, a number.
    @objc public static var errorRetryAfterKey: String { "AssayAppCheckRetryAfter" }
    /// The key of the status of the server's answer, a number.
    @objc public static var errorStatusKey: String { "AssayAppCheckStatus" }
}

extension NSError {
    /// An error of the library, with what is known of it; another one as it is.
    convenience init(_ error: any Error) {
        guard let known = error as? AppCheckError else {
            let other = error as NSError
            self.init(domain: other.domain, code: other.code, userInfo: other.userInfo)
            return
        }
        var info: [String: Any] = [NSLocalizedDescriptionKey: known.message]
        info[ObjCAppCheck.errorDecisionKey] = known.decision
        info[ObjCAppCheck.errorRetryAfterKey] = known.retryAfter.map { Double($0.nanoseconds) / 1_000_000_000 }
        info[ObjCAppCheck.errorStatusKey] = known.status
        self.init(domain: ObjCAppCheck.errorDomain, code: ObjCAppCheckErrorCode(known.code).rawValue, userInfo: info)
    }
}
#endif
