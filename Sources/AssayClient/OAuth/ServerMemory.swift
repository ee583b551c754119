/// What servers said last, by their origin: a nonce for DPoP, a challenge for proofs of possession, and their time.
///
/// It is bounded, and forgotten when the program ends.
final class ServerMemory: Sendable {
    struct Entry: Sendable {
        let origin: ServerAddress
        var nonce: String?
        var challenge: String?
        /// Its `Date`, and when that arrived.
        var time: (unixSeconds: Int64, at: Moment)?
    }

    /// The most origins; those that answered last.
    private static let entryLimit = 32
    private static let textLimit = 1024

    /// The one that answered last is the last.
    private let entries = Lock<[Entry]>([])

    /// What is known of a server.
    func entry(of address: ServerAddress) -> Entry? {
        entries.withLock { entries in entries.first { $0.origin.hasOrigin(of: address) } }
    }

    /// Remembers what a response says.
    func note(_ response: ClientResponse, from address: ServerAddress, at now: Moment) {
        let nonce = Self.text("DPoP-Nonce", of: response)
        let challenge = Self.text("OAuth-Client-Attestation-Challenge", of: response)
        // A response from a cache was written some time ago (RFC 9111, section 5.1).
        let date = response.header("age").map { _ in nil } ?? response.header("date").flatMap(HTTPDateText.seconds)
        change(address) { entry in
            if let nonce { entry.nonce = nonce }
            if let challenge { entry.challenge = challenge }
            if let date { entry.time = (date, now) }
        }
    }

    /// Remembers a challenge that an endpoint gave, or forgets one.
    func setChallenge(_ challenge: String?, for address: ServerAddress) {
        change(address) { $0.challenge = challenge }
    }

    /// The time by a server's clock, as far as it is known: never later than the server's own.
    ///
    /// A response is younger when it arrives than when it was written.
    func unixSeconds(at address: ServerAddress, now: Moment) -> Int64? {
        guard let time = entry(of: address)?.time else { return nil }
        let (seconds, overflow) = time.unixSeconds.addingReportingOverflow(max((now - time.at).wholeSeconds, 0))
        return overflow ? nil : seconds
    }

    /// Whether text can be a nonce or a challenge: visible ASCII without quotes (RFC 9449, section 8.1).
    static func isNonce(_ text: String) -> Bool {
        (1...textLimit).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    private func change(_ address: ServerAddress, _ body: @Sendable (inout Entry) -> Void) {
        entries.withLock { entries in
            let index = entries.firstIndex { $0.origin.hasOrigin(of: address) }
            var entry = index.map { entries.remove(at: $0) } ?? Entry(origin: address)
            body(&entry)
            if entries.count >= Self.entryLimit { entries.removeFirst() }
            entries.append(entry)
        }
    }

    /// The value of a field that is there once.
    private static func text(_ name: String, of response: ClientResponse) -> String? {
        let values = response.headers.filter { $0.name.loweredASCII.sameBytes(as: name.loweredASCII) }
        guard values.count == 1, let value = values.first?.value, isNonce(value) else { return nil }
        return value
    }
}
