public import AssayCore

/// Why no private tokens are issued.
public enum PrivateTokenReasons {
    /// The App Check token does not name a key of a device, by which its tokens could be counted.
    public static let deviceUnknown = Reason(
        "private_token_device_unknown",
        "The App Check token names no key of a device, so that its private tokens cannot be counted.",
        advice: """
            Set `key_in_tokens: true` in the app's section `app_attest` or `android_key`, and accept their tokens only (`tokens: \
            {providers: […]}`). Or set `accept_unbound_tokens: true` here, and demand limited-use tokens. \
            Tokens of `privacy_pass` are never accepted: they would give new private tokens for spent ones.
            """)
    /// The device has had all batches of the day.
    public static let limit = Reason(
        "private_token_limit", "The device has had as many private tokens as it may have on one day.",
        advice:
            "Let apps keep tokens and ask for whole batches. If genuine devices need more, raise `batch` or `daily_batches`."
    )

    /// All of them.
    public static let all = [deviceUnknown, limit]
}
