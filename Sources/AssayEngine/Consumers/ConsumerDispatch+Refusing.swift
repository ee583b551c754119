internal import AssayKit

extension ConsumerDispatch {
    /// Whose token is no token of this project is told to bring another; whose good token is not enough here, that it is
    /// not allowed.
    static func failure(_ refusal: TokenInspection.Refusal) -> CallFailure {
        let isPolicy =
            [
                KernelReasons.tokenProviderNotAllowed, KernelReasons.tokenAppNotAllowed,
                KernelReasons.tokenOfOAuthClient, KernelReasons.tokenForDevelopment,
                KernelReasons.tokenNotLimitedUse, KernelReasons.tokenTooOld, KernelReasons.tokenReused,
            ].contains(refusal.reason)
        return CallFailure(
            isPolicy ? .permissionDenied : .unauthenticated,
            isPolicy ? "The App Check token is not sufficient." : "The App Check token is missing or invalid.",
            reason: refusal.reason, detail: refusal.detail, oauthError: "invalid_request")
    }

    static func ending(_ refusal: TokenInspection.Refusal) -> CallOutcome {
        var ending = CallOutcome.failed(failure(refusal))
        ending.provider = refusal.token?.provider
        ending.facts = refusal.facts
        return ending
    }

    static func reused(_ good: TokenInspection.Good) -> CallOutcome {
        .failed(failure(TokenInspection.Refusal(reason: KernelReasons.tokenReused, token: good.token)))
    }
}
