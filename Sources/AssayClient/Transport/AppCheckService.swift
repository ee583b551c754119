/// The methods of an App Check service, called for one app.
public struct AppCheckService: Sendable {
    private let app: AppName
    private let address: ServerAddress
    private let options: AppCheckOptions

    init(app: AppName, address: ServerAddress, options: AppCheckOptions) {
        self.app = app
        self.address = address
        self.options = options
    }

    /// Asks for a challenge, which is good for one call.
    ///
    /// - Parameter method: such as `generateAppAttestChallenge`.
    public func challenge(_ method: String) async throws(AppCheckError) -> [UInt8] {
        let reply = try await call(method, [:])
        guard let challenge = reply.bytes("challenge"), (1...ClientLimits.challenge).contains(challenge.count) else {
            throw reply.malformed("`challenge` is not Base 64 of 1 to \(ClientLimits.challenge) bytes")
        }
        return challenge
    }

    /// Exchanges evidence for a token.
    ///
    /// - Parameters:
    ///   - method: such as `exchangeDebugToken`.
    ///   - body: the fields of the request.
    ///   - isLimitedUse: the request's wish, which becomes the field `limited_use`.
    public func exchange(
        _ method: String, _ body: KeyValuePairs<String, BodyValue>, isLimitedUse: Bool
    ) async throws(AppCheckError) -> IssuedToken {
        try await call(method, body, isLimitedUse: isLimitedUse).token()
    }

    /// Calls a method; an empty body is left out.
    ///
    /// - Throws: an error of the server with its decision, or of the way to it.
    public func call(
        _ method: String, _ body: KeyValuePairs<String, BodyValue>, isLimitedUse: Bool? = nil
    ) async throws(AppCheckError) -> ServiceReply {
        guard let url = address.appending("/v1/\(app.text):\(method)"), method.utf8.allSatisfy(\.isAlphanumeric) else {
            throw AppCheckError(.invalidConfiguration, "`\(ShownText.of(method))` is no name of a method.")
        }
        var members = body.map { (name: $0.key, value: $0.value) }
        if let isLimitedUse { members.append((name: "limited_use", value: .bool(isLimitedUse))) }
        var request = ClientRequest(
            method: "POST", url: url.text, headers: [ClientHeader("Accept", "application/json")],
            timeLimit: options.requestLimit, responseLimit: ClientLimits.reply)
        if !members.isEmpty {
            request.headers.append(ClientHeader("Content-Type", "application/json"))
            request.body = JSONText.object(members)
        }
        let start = options.clock.now
        let response = try await options.transport.deliver(request)
        guard (200...299).contains(response.status) else {
            throw AppCheckError(response, of: method, for: app.text)
        }
        guard let value = JSONValue.read(response.body), case .object = value else {
            throw AppCheckError(
                .malformedReply,
                "The reply of \(method) is no JSON object of at most \(ClientLimits.reply) bytes. Check that `endpoint` "
                    + "leads to an App Check service.", status: response.status)
        }
        return ServiceReply(method: method, start: start, value: value)
    }
}

/// The reply of a method.
public struct ServiceReply: Sendable {
    let method: String
    /// Before the request was sent.
    let start: Moment
    let value: JSONValue

    /// A field with text; nil without one.
    public func text(_ field: String) -> String? { value[field]?.text }

    /// A field with bytes in Base 64; nil without one.
    public func bytes(_ field: String) -> [UInt8]? { value[field]?.text.flatMap { Base64Text.decode($0.utf8) } }

    /// The token of the reply, which has the fields `token` and `ttl` itself, or in a field of its own.
    ///
    /// - Parameter field: the name of that field; nil for the reply itself.
    /// - Throws: `malformedReply`.
    public func token(_ field: String? = nil) throws(AppCheckError) -> IssuedToken {
        let holder = field.map { value[$0] } ?? value
        guard let token = holder?["token"]?.text, TokenClaims.isToken(token) else {
            throw malformed("`token` is missing, or no token of at most \(ClientLimits.token) bytes")
        }
        guard let ttl = holder?["ttl"]?.text, let lifetime = Self.duration(ttl) else {
            throw malformed("`ttl` is missing, or no duration such as \"3600s\"")
        }
        return IssuedToken(text: token, lifetime: lifetime, requested: start)
    }

    func malformed(_ what: String) -> AppCheckError {
        AppCheckError(.malformedReply, "In the reply of \(method) \(what).")
    }

    /// Decimal seconds with at most nine places and an `s`, as protobuf writes durations; more than nothing.
    static func duration(_ text: String) -> Interval? {
        guard text.utf8.last == UInt8(ascii: "s") else { return nil }
        let parts = text.utf8.dropLast().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ $0.allSatisfy(\.isDecimal) }),
            (1...9).contains(parts[0].count), let seconds = Int64(String(decoding: parts[0], as: UTF8.self))
        else { return nil }
        var fraction: Int64 = 0
        if parts.count == 2 {
            guard (1...9).contains(parts[1].count), let digits = Int64(String(decoding: parts[1], as: UTF8.self)) else {
                return nil
            }
            fraction = (parts[1].count..<9).reduce(digits) { digits, _ in digits * 10 }
        }
        let interval = Interval.seconds(seconds) + Interval(nanoseconds: fraction)
        return interval > .zero ? interval : nil
    }
}
