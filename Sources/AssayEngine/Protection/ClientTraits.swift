public import AssayKit

/// What a request to a protected service says of the client that sent it: nothing of it is proven, and it only helps to
/// tell an old app from a stranger where there is no token.
public struct ClientTraits: Sendable, Hashable {
    /// Whether the request looks like one of a Firebase SDK.
    public var isFirebaseSDK: Bool
    /// The app that it claims to come from: the value of `X-Firebase-GMPID`.
    @Exact public var appID: String?

    public init(isFirebaseSDK: Bool = false, appID: String? = nil) {
        self.isFirebaseSDK = isFirebaseSDK
        self.appID = appID
    }

    /// Reads the headers that Firebase SDKs send.
    ///
    /// - Parameter header: the value of a header by its name in lower case; nil when there is none.
    public init(headers header: (String) -> String?) {
        let appID = header("x-firebase-gmpid")
        let agents = ["x-goog-api-client", "x-client-version", "user-agent"].compactMap(header)
        let isFirebaseSDK =
            !appID.isNil || !header("x-firebase-client").isNil
            || agents.contains { agent in
                ["fire/", "fire-", "firebase"].contains { agent.lowercasedASCII.utf8.contains($0.utf8) }
            }
        self.init(isFirebaseSDK: isFirebaseSDK, appID: appID)
    }
}
