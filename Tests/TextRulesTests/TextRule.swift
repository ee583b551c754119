/// What code may not do with text, told by the symbols of Swift's library that compiled code refers to.
///
/// The compiler has resolved every overload by then, so that nothing hides behind a generic function, a synthesised
/// conformance or a literal.
enum TextRule {
    /// The mangled names of what compares, hashes, orders or folds text in Swift's way, and what it is.
    private static let symbols: [String: String] = [
        "$sSS2eeoiySbSS_SStFZ": "== of String",
        "$sSSSQsWP": "String as Equatable",
        "$sSSSHsWP": "String as Hashable",
        "$sSSSLsWP": "String as Comparable",
        "$sSS1loiySbSS_SStFZ": "< of String",
        "$sSS1goiySbSS_SStFZ": "> of String",
        "$sSS2leoiySbSS_SStFZ": "<= of String",
        "$sSS2geoiySbSS_SStFZ": ">= of String",
        "$sSS9hasPrefixySbSSF": "hasPrefix of String",
        "$sSS9hasSuffixySbSSF": "hasSuffix of String",
        "$sSS10lowercasedSSyF": "lowercased of String",
        "$sSS10uppercasedSSyF": "uppercased of String",
        "$sSS5countSivg": "count of String",
        "$sSJ2eeoiySbSJ_SJtFZ": "== of Character",
        "$sSJSQsWP": "Character as Equatable",
        "$sSJSHsWP": "Character as Hashable",
        "$sSsSQsWP": "Substring as Equatable",
        "$sSsSHsWP": "Substring as Hashable",
        "$sSs10lowercasedSSyF": "lowercased of Substring",
        "$sSs10uppercasedSSyF": "uppercased of Substring",
    ]

    /// The same for whatever is text, by the beginning of the mangled name.
    private static let protocolSymbols: [(prefix: String, what: String)] = [
        ("$sSysE2eeoi", "== of StringProtocol"), ("$sSysE2neoi", "!= of StringProtocol"),
        ("$sSysE1loi", "< of StringProtocol"), ("$sSysE9hasPrefix", "hasPrefix of StringProtocol"),
        ("$sSysE9hasSuffix", "hasSuffix of StringProtocol"),
    ]

    /// What a symbol does; nil for all that keeps the rule.
    static func name(of symbol: String) -> String? {
        guard symbol.hasPrefix("$s") else { return nil }
        if let name = symbols[symbol] { return name }
        if let known = protocolSymbols.first(where: { symbol.hasPrefix($0.prefix) }) { return known.what }
        // The members of a list in a header, taken apart by characters.
        if symbol.contains("HTTPHeadersV13canonicalForm") { return "canonicalForm of HTTPHeaders" }
        // The initialiser of an enumeration of strings.
        if symbol.hasSuffix("SgSS_tcfC"), symbol.contains("8rawValue"), !symbol.hasPrefix("$ss") {
            return "init(rawValue:) of an enumeration"
        }
        return nil
    }

    /// Whether a symbol is of a log line's metadata, a dictionary whose names stand in the code.
    static func isOfLogging(_ symbol: String) -> Bool {
        symbol.hasPrefix("$s7Logging6LoggerV13MetadataValue") || symbol.hasPrefix("$sSDySS7Logging")
    }

    /// Whether a function is the compiler's own, of a kind that compares no text but its own declarations'.
    ///
    /// - Parameter function: a demangled name.
    static func isSynthesised(_ function: String, doing rule: String) -> Bool {
        // Thunks of conformances, such as those of enumerations of strings, which are hashed by their raw values.
        if function.contains("protocol witness for") { return true }
        // Keys of a Decodable type. Policies are decoded by keys that are asked for, never by those that are found.
        if function.contains("CodingKeys"), function.contains(".init(") { return true }
        return false
    }
}
