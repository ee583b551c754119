#if canImport(ObjectiveC)
public import Foundation

/// What makes the evidence of an app, for code in Objective-C.
@objc(ASYTokenProvider) public final class ObjCTokenProvider: NSObject, Sendable {
    let provider: any AppCheckProvider

    private init(_ provider: any AppCheckProvider) {
        self.provider = provider
    }

    /// A key that the device attests once, and an assertion for each token.
    @objc public static func appAttest() -> ObjCTokenProvider { ObjCTokenProvider(AppAttestProvider()) }

    /// A token of Apple's DeviceCheck.
    @objc public static func deviceCheck() -> ObjCTokenProvider { ObjCTokenProvider(DeviceCheckProvider()) }

    /// A debug token that the operator registers.
    ///
    /// - Parameter token: nil for the one of the environment, or one that is made and printed once.
    @objc(debugProviderWithToken:) public static func debug(token: String?) -> ObjCTokenProvider {
        ObjCTokenProvider(DebugProvider(debugToken: token))
    }

    /// A block, for tokens that a backend of the app's own gets.
    ///
    /// - Parameter fetch: takes whether the token is for one use, and a handler that it calls once: with the JWT and the seconds
    ///   that it lasts, or with an error. A block that never calls it fails after the limit for a fetch.
    @objc(customProviderWithBlock:) public static func custom(
        _ fetch: @escaping @Sendable (Bool, @escaping @Sendable (String?, Double, NSError?) -> Void) -> Void
    ) -> ObjCTokenProvider {
        ObjCTokenProvider(
            CustomProvider { request in
                let answer = Answer()
                return try await withTaskCancellationHandler {
                    try await withCheckedThrowingContinuation { caller in
                        answer.wait(caller)
                        fetch(request.isLimitedUse) { token, seconds, error in
                            answer.give(Self.issued(token, seconds, error))
                        }
                    }
                } onCancel: {
                    answer.give(.failure(CancellationError()))
                }
            })
    }

    private static func issued(_ token: String?, _ seconds: Double, _ error: NSError?) -> Result<IssuedToken, any Error>
    {
        // More than a week is refused; a number must fit before.
        guard let token, seconds > 0, seconds < 1e9 else {
            return .failure(
                error ?? NSError(AppCheckError(.malformedReply, "The block gave neither a token nor an error.")))
        }
        return .success(IssuedToken(text: token, lifetime: .milliseconds(Int64(seconds * 1000))))
    }
}

/// An answer that is given once: the first one counts.
private final class Answer: Sendable {
    private struct State: Sendable {
        var caller: CheckedContinuation<IssuedToken, any Error>?
        var early: Result<IssuedToken, any Error>?
        var isGiven = false
    }

    private let state = Lock(State())

    func wait(_ caller: CheckedContinuation<IssuedToken, any Error>) {
        let early = state.withLock { state in
            if state.early == nil { state.caller = caller }
            return state.early
        }
        if let early { caller.resume(with: early) }
    }

    func give(_ result: Result<IssuedToken, any Error>) {
        let caller = state.withLock { state in
            let caller = state.caller
            if !state.isGiven, caller == nil { state.early = result }
            (state.caller, state.isGiven) = (nil, true)
            return caller
        }
        caller?.resume(with: result)
    }
}
#endif
