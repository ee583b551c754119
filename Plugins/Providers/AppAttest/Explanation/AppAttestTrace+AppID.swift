internal import AssayCrypto
internal import AssayKit

extension AppAttestTrace {
    /// Checks for which app authenticator data is; it names the app by a digest only.
    mutating func check(appIDOf data: AuthenticatorData, _ appID: AppAttestAppID) throws(AppAttestRefusal) {
        try check(
            .appID, ConstantTime.equal(data.relyingPartyHash, appID.digest), AppAttestReasons.appIDMismatch,
            expected: "\(Hex.encode(appID.digest)), the digest of \(appID.text)",
            found: Hex.encode(data.relyingPartyHash))
    }
}

extension AuthenticatorData {
    /// The head and the extensions in a few words.
    var found: String {
        let category = extensions.validationCategory.map { ", validation category \($0.rawValue)" } ?? ""
        return "counter \(counter), flags \(Hex.encode([flags]))\(category)"
    }
}
