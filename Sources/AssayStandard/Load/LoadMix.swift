#if Simulator
internal import AssayCore

/// What a load has its server do.
enum LoadMethod: String, CaseIterable, Sendable {
    /// `generateAppAttestChallenge`.
    case challenge
    /// `exchangeAppAttestAttestation`, with a key that the server has never seen.
    case attest
    /// `exchangeAppAttestAssertion`, for a session token.
    case assert
    /// `verifyAppCheckToken`, with a session token.
    case verify
    /// `verifyAppCheckToken`, with a limited-use token.
    case consume
    /// `/verify/BACKEND`, as a proxy asks.
    case proxy

    /// Its place in tables.
    var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The names of all methods, for messages.
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// Which methods are called, in which proportion.
///
/// The methods take turns so that after any number of calls each had its share, up to one call: a mix is the same each time.
struct LoadMix: Sendable {
    private struct Entry: Sendable {
        let method: LoadMethod
        let weight: Int
        var credit = 0
    }

    private var entries: [Entry]
    private let total: Int

    /// - Parameter weights: positive, and one for each method.
    init(_ weights: [(method: LoadMethod, weight: Int)]) {
        entries = weights.map { Entry(method: $0.method, weight: $0.weight) }
        total = weights.reduce(0) { $0 + $1.weight }
    }

    /// Reads `METHOD=WEIGHT,…`.
    ///
    /// - Throws: the cause in words.
    init(_ text: String) throws(LoadFailure) {
        var weights: [(method: LoadMethod, weight: Int)] = []
        for part in text.split(separator: ",", maxSplits: 32, omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let method = LoadMethod.allCases.first(where: { $0.rawValue.isExactly(String(sides[0])) }) else {
                throw LoadFailure("unknown method '\(sides[0])' in a mix; known are \(LoadMethod.names)")
            }
            guard !weights.contains(where: { $0.method == method }) else {
                throw LoadFailure("'\(method.rawValue)' is twice in the mix")
            }
            guard let weight = sides.count == 2 ? Int(sides[1]) : 1, (0...1_000_000).contains(weight) else {
                throw LoadFailure("the weight of '\(method.rawValue)' is not a number from 0 to 1000000")
            }
            if weight > 0 { weights.append((method, weight)) }
        }
        guard !weights.isEmpty else { throw LoadFailure("the mix has no method") }
        self.init(weights)
    }

    /// The method of the next call.
    mutating func next() -> LoadMethod {
        var best = 0
        for index in entries.indices {
            entries[index].credit += entries[index].weight
            if entries[index].credit > entries[best].credit { best = index }
        }
        entries[best].credit -= total
        return entries[best].method
    }

    /// The share of a method, from 0 to 1.
    func share(of method: LoadMethod) -> Double {
        entries.first { $0.method == method }.map { Double($0.weight) / Double(total) } ?? 0
    }

    /// The mix as the option takes it.
    var text: String { entries.map { "\($0.method.rawValue)=\($0.weight)" }.joined(separator: ",") }
}

/// Why a load could not be made, in words.
struct LoadFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
#endif
