#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#endif

/// What an ``AppCheck`` reaches the world by.
public struct AppCheckOptions: Sendable {
    /// What sends requests.
    public var transport: any ClientTransport
    /// Where tokens and the names of keys are kept.
    public var storage: any ClientStorage
    /// What lifetimes are measured by.
    public var clock: any ClientClock
    /// The longest time for one request.
    public var requestLimit = Interval.seconds(30)
    /// The longest time for all that a provider does for one token.
    public var fetchLimit = Interval.minutes(2)
    /// Takes sentences for a developer: the debug token, and a storage that fails.
    ///
    /// They hold no other secret. By default they are written to standard error.
    public var notice: @Sendable (String) -> Void = { sentence in
        let bytes = Array("[AssayClient] \(sentence)\n".utf8)
        _ = write(2, bytes, bytes.count)
    }
    /// The value of an environment variable.
    public var environment: @Sendable (String) -> String? = { name in getenv(name).map { String(cString: $0) } }

    /// Makes options with a transport, such as `AssayClientHTTP`'s.
    ///
    /// - `storage`: by default the Keychain on Apple's systems, and a file in the user's folder elsewhere.
    public init(transport: any ClientTransport, storage: any ClientStorage = StandardStorage()) {
        self.transport = transport
        self.storage = storage
        clock = SystemClientClock()
    }
}

#if canImport(Darwin)
extension AppCheckOptions {
    /// Makes options with `URLSession` and the Keychain.
    public init() {
        self.init(transport: URLSessionTransport())
    }
}
#endif
