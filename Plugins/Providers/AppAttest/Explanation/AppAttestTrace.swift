public import AssayCore
internal import AssayCrypto

/// The checks of a verification, in the order in which it made them, with what each expected and found.
///
/// Verifiers make their checks through it, whether it records or not: so an explanation shows the real checks. It
/// contains no secrets; digests replace challenges and client data.
public struct AppAttestTrace: Sendable {
    /// How a check came out.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case passed
        case failed
        case notReached = "not reached"
    }

    /// A check and its outcome.
    public struct Step: Sendable, Hashable {
        /// The check.
        public let check: AppAttestCheck
        /// Its outcome.
        public let outcome: Outcome
        /// The value that the check expects; nil if it was not reached.
        @Exact public private(set) var expected: String?
        /// What the evidence has; nil for a check that was not reached.
        @Exact public private(set) var found: String?

        init(_ check: AppAttestCheck, _ outcome: Outcome, expected: String? = nil, found: String? = nil) {
            self.check = check
            self.outcome = outcome
            self.expected = expected
            self.found = found
        }
    }

    private let isRecording: Bool
    private var made: [Step] = []
    private var planned: [AppAttestCheck] = []

    /// A trace that records.
    public init() {
        isRecording = true
    }

    private init(isRecording: Bool) {
        self.isRecording = isRecording
    }

    /// A trace that records nothing, and costs nothing.
    static var none: AppAttestTrace { AppAttestTrace(isRecording: false) }

    /// All checks of the verification, in their order; those after a failed one were not reached.
    public var steps: [Step] {
        var unmade: [AppAttestCheck] = []
        var rest = made.map(\.check)[...]
        for check in planned {
            if let index = rest.firstIndex(of: check) { rest.remove(at: index) } else { unmade.append(check) }
        }
        return made + unmade.map { Step($0, .notReached) }
    }

    /// Announces checks that will be made next.
    mutating func plan(_ checks: [AppAttestCheck]) {
        if isRecording { planned += checks }
    }

    /// Makes a check of two values.
    mutating func check(
        _ check: AppAttestCheck, _ isMet: Bool, _ reason: Reason, expected: @autoclosure () -> String,
        found: @autoclosure () -> String
    ) throws(AppAttestRefusal) {
        guard !isMet else {
            if isRecording { made.append(Step(check, .passed, expected: expected(), found: found())) }
            return
        }
        let (expected, found) = (expected(), found())
        if isRecording { made.append(Step(check, .failed, expected: expected, found: found)) }
        throw AppAttestRefusal(reason, "expected \(expected), found \(found)")
    }

    /// Makes a check that parses something, and may refuse it for several reasons.
    mutating func check<Value>(
        _ check: AppAttestCheck, expected: @autoclosure () -> String, found: (Value) -> String,
        _ read: () throws(AppAttestRefusal) -> Value
    ) throws(AppAttestRefusal) -> Value {
        do throws(AppAttestRefusal) {
            let value = try read()
            if isRecording { made.append(Step(check, .passed, expected: expected(), found: found(value))) }
            return value
        } catch {
            if isRecording {
                let found = [error.reason.summary, error.detail].compactMap(\.self).joined(separator: " ")
                made.append(Step(check, .failed, expected: expected(), found: found))
            }
            throw error
        }
    }
}

extension AppAttestTrace {
    /// Checks for which app authenticator data is; it names the app by a digest only.
    mutating func check(appIDOf data: AuthenticatorData, _ appID: AppAttestAppID) throws(AppAttestRefusal) {
        try check(
            .appID, ConstantTime.equal(data.relyingPartyHash, appID.digest), AppAttestReasons.appIDMismatch,
            expected: "\(Hex.encode(appID.digest)), the digest of \(appID.text)",
            found: Hex.encode(data.relyingPartyHash))
    }
}

extension AttestationObject {
    /// The parts in a few words.
    var found: String {
        "authData of \(authenticatorData.count) bytes, \(receipt.map { "a receipt of \($0.count)" } ?? "no receipt")"
            + unknown.found
    }
}

extension AssertionObject {
    /// The parts in a few words.
    var found: String { "authenticatorData of \(authenticatorData.count) bytes\(unknown.found)" }
}

extension UnknownMembers {
    fileprivate var found: String { words.map { ", not known: \($0)" } ?? "" }
}

extension AuthenticatorData {
    /// The head and the extensions in a few words.
    var found: String {
        let category = extensions.validationCategory.map { ", validation category \($0.rawValue)" } ?? ""
        return "counter \(counter), flags \(Hex.encode([flags]))\(category)"
    }
}
