public import AssayCore

/// Why the provider refuses evidence.
public enum PlayIntegrityReasons {
    /// The token has the form of neither kind.
    public static let tokenMalformed = Reason(
        "play_token_malformed", "The token does not have the form of Play Integrity's tokens.",
        advice: "The detail says what is wrong. Send what `token()` of the Play Integrity API gives, unchanged.")
    /// No key opens the token.
    public static let notOpened = Reason(
        "play_token_not_opened", "No key of the policy opens the token.",
        advice: """
            Compare `response_keys` with the keys in the Play Console: tokens that were made before a change need the older pair. Tokens \
            under keys that Google manages cannot be opened here. A single case is a made-up token.
            """)
    /// The content was not signed by Google's key for the app.
    public static let signatureInvalid = Reason(
        "play_signature_invalid", "What the token holds was not signed by the verification key.",
        advice: """
            If all tokens fail, the two keys of a pair in `response_keys` are of different downloads. Otherwise somebody who knows the \
            decryption key has made the token: change the keys.
            """)
    /// What the token says cannot be read.
    public static let verdictMalformed = Reason(
        "play_verdict_malformed", "What the token says does not have the required form.",
        advice: "The detail has the place. If all tokens fail, Google has changed their form: update Assay.")
    /// Only Google can open the token, and the policy has no account.
    public static let needsGoogle = Reason(
        "play_token_needs_google", "Only Google can open the token, and the policy has no service account.",
        advice: "Set `service_account`, or let the app make classic requests, as the Firebase SDK does.")
    /// Google does not accept the token.
    public static let refused = Reason(
        "play_token_refused", "Google says that the token is invalid.",
        advice: """
            A single case is a made-up token, or one of another package. If all fail, compare `package` with the app, and the Cloud project \
            of the app with that of the service account.
            """)
    /// Google refused many tokens of the peer.
    public static let limited = Reason(
        "play_token_limited", "Google refused many tokens of the peer, so this one was not checked.",
        advice: """
            Wait: the address is admitted again automatically. If many genuine users share it, find out which address the server sees \
            (`--trusted-proxy`).
            """)
    /// The token is of another app.
    public static let packageMismatch = Reason(
        "play_package_mismatch", "The token is of another package.",
        advice: "Compare `package` in the policy's `android` section with the app's application ID.")
    /// The app is signed with another certificate.
    public static let signerMismatch = Reason(
        "play_signer_mismatch", "The app is signed with another certificate.",
        advice: """
            The detail has both. With Play App Signing, `signing_digests` has the certificate of Google's signing key, not that of the \
            upload key. A single case is an app that somebody has changed.
            """)
    /// The token is not made for a challenge.
    public static let challengeMissing = Reason(
        "play_challenge_missing", "The token was not made for a challenge of this service.",
        advice: """
            Give `challenge`, as `generatePlayIntegrityChallenge` returned it, to the request as its nonce, or as its request hash.
            """)
    /// The token is too old.
    public static let tokenTooOld = Reason(
        "play_token_too_old", "The token is too old.",
        advice:
            "The app should make a new token for each exchange. If new tokens fail, correct the clock of this server.")
    /// The token is from the future.
    public static let tokenInFuture = Reason(
        "play_token_in_future", "The token was made in the future.", advice: "Correct the clock of this server.")
    /// The answer is made up for a tester.
    public static let testing = Reason(
        "play_testing_response", "The answer was made up for a tester.",
        advice:
            "Remove the account from the testers in the Play Console, or let it use an app of a project for development."
    )
    /// Google Play does not know the app.
    public static let appUnrecognized = Reason(
        "play_app_unrecognized", "The app is not one that Google Play knows.",
        advice: """
            The app was not installed from Google Play, somebody has changed it, or the device is not trusted (`UNEVALUATED`). For apps that \
            are not on Google Play, set `allow_unrecognized_version: true`.
            """)
    /// The app is too old.
    public static let versionTooLow = Reason(
        "play_version_too_low", "The version of the app is too low.", advice: "Users should update the app.")
    /// The device does not meet the level.
    public static let levelTooLow = Reason(
        "play_device_level_too_low", "The device does not meet the level that the policy demands.",
        advice: """
            The device is an emulator, or its system was changed. If many fail, choose the label in the Play Console: only \
            `MEETS_DEVICE_INTEGRITY` is stated without it.
            """)
    /// The user has not got the app from Google Play.
    public static let unlicensed = Reason(
        "play_unlicensed", "The user has not got the app from Google Play.",
        advice:
            "The user should install the app from Google Play. Apps that are sold elsewhere need `require_licensed: false`."
    )
    /// Android is too old.
    public static let systemTooOld = Reason(
        "play_system_too_old", "The version of Android is too old, or was not stated.",
        advice: "Choose device attributes in the Play Console: otherwise no device states its version.")
    /// The app has got too many tokens on the device.
    public static let activity = Reason(
        "play_activity_refused", "The policy refuses devices with so many tokens in the last hour.",
        advice: "Many tokens are a sign of automation, or of an app that does not keep its tokens.")
    /// Another app could look or act.
    public static let accessRisk = Reason(
        "play_access_risk_refused", "The policy refuses devices on which another app could see or control this one.",
        advice: "The user should close or remove the app. Screen recorders and tools for accessibility count, too.")
    /// Play Protect has found something.
    public static let playProtect = Reason(
        "play_protect_refused", "The policy refuses what Play Protect says of the device.",
        advice: "The user should turn on Play Protect, and remove what it has found.")
    /// The place may be false.
    public static let location = Reason(
        "play_location_risk_refused", "The policy refuses devices whose place may be false.",
        advice: "The user should turn off what states another place.")
    /// The account is unusual.
    public static let account = Reason(
        "play_account_activity_refused", "The policy refuses accounts with such an activity.",
        advice: "The user should use an account of their own.")
    /// The developer has marked the device.
    public static let recall = Reason(
        "play_recall_refused", "The policy refuses devices with this bit.",
        advice: "The developer has set the bit. If it was a mistake, set it back (`updatePlayIntegrityBits`).")
    /// A caller wants to read or set the bits of a device with a token that is not accepted.
    public static let bitsRefused = Reason(
        "play_bits_token_refused", "The token whose device's bits were to be read or set is not accepted.",
        advice: """
            The detail has the reason, as in an exchange. The token should be of the app, at most two weeks old, and used for no other change.
            """)

    /// All of them.
    public static let all = [
        tokenMalformed, notOpened, signatureInvalid, verdictMalformed, needsGoogle, refused, limited, packageMismatch,
        signerMismatch, challengeMissing, tokenTooOld, tokenInFuture, testing, appUnrecognized, versionTooLow,
        levelTooLow, unlicensed, systemTooOld, activity, accessRisk, playProtect, location, account, recall,
        bitsRefused,
    ]
}
