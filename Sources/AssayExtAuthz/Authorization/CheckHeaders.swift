internal import AssayKit

/// The header fields of a request that Envoy asks about.
///
/// Envoy sends them merged by their names, each as it came, or both, and gRPC's own clients of this service only as they
/// came. What is in both is one field.
struct CheckHeaders {
    /// The header with the token.
    static let token = "x-firebase-appcheck"
    /// How the headers begin that tell the backend what was found.
    static let findings = "x-appcheck-"

    /// The values of the header with the token; several also where values were merged into one.
    private(set) var tokens: [String] = []
    /// The names that a backend might take for those of findings, in lower case.
    private(set) var findings: Set<String> = []

    /// - Throws: ``UnreadableCheck`` when there are too many, or one whose name could not be repeated to Envoy.
    init(_ request: Envoy_Service_Auth_V3_AttributeContext.HttpRequest, limit: Int) throws(UnreadableCheck) {
        let raw = request.headerMap.headers
        guard request.headers.count <= limit, raw.count <= limit else {
            throw UnreadableCheck("it has more than \(limit) header fields")
        }
        let merged = try tokens(request.headers.lazy.map { ($0.key, [$0.value]) })
        // A field without a value is one field more, as it is over HTTP.
        let single = try tokens(
            raw.lazy.map { field in
                let values = [field.value, field.rawValue].filter { !$0.isEmpty }
                return (field.key, values.isEmpty ? [field.value] : values)
            })
        tokens = merged == single ? merged : merged + single
    }

    /// The values of the header with the token among some fields; notes those whose names are like findings.
    private mutating func tokens(
        _ fields: some Sequence<(some Collection<UInt8>, [some Collection<UInt8>])>
    ) throws(UnreadableCheck) -> [String] {
        var tokens: [String] = []
        for (key, values) in fields {
            guard key.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw UnreadableCheck("the name of a header field has characters that no name has")
            }
            let name = String(decoding: key, as: UTF8.self).lowercased()
            // Servers of some languages make no difference between these characters.
            let alike = String(name.map { $0 == "_" ? "-" : $0 })
            if alike.hasPrefix(Self.findings) { findings.insert(name) }
            guard name == Self.token else { continue }
            let texts = values.map { String(decoding: $0, as: UTF8.self) }
            // No token has a comma: several values were merged.
            tokens += texts.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        }
        return tokens
    }
}
