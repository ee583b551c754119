internal import AssayCore

/// Names that libraries choose, in the form that a registry takes: lower-case words joined by underscores.
enum LibraryName {
    /// The longest name that is read, and the longest that it may become, without what is put before and behind it.
    private static let readLimit = 200
    private static let writtenLimit = 80

    /// The name of a metric; nil for one without letters and digits, and for one that is too long.
    ///
    /// - Parameters:
    ///   - ending: what the name of its kind has to end with; empty for a gauge or a histogram.
    ///   - namespace: what names of the program begin with.
    static func metric(_ label: String, ending: String, in namespace: String) -> String? {
        guard var name = words(label) else { return nil }
        let isTaken = name.starts(withExactly: namespace) || name.starts(withExactly: "process_")
        if isTaken || name.utf8.first.map(\.isASCIIDigit) ?? true { name = "library_" + name }
        if !ending.isEmpty { return name.ends(withExactly: ending) ? name : name + ending }
        // These endings have another meaning in the formats.
        let reserved = ["_total", "_bucket", "_count", "_sum", "_created", "_info"]
        return reserved.contains { name.ends(withExactly: $0) } ? name + "_value" : name
    }

    /// The name of a label; nil as above.
    static func label(_ dimension: String) -> String? {
        guard let name = words(dimension) else { return nil }
        let isReserved = ["le", "quantile"].contains(exactly: name) || name.utf8.first.map(\.isASCIIDigit) ?? true
        return isReserved ? "label_" + name : name
    }

    /// `http.client.openConnections` is `http_client_open_connections`.
    private static func words(_ text: String) -> String? {
        guard text.utf8.count <= readLimit else { return nil }
        let underscore = UInt8(ascii: "_")
        var name: [UInt8] = []
        var previous: UInt8 = underscore
        for byte in text.utf8 {
            let isLetterOrDigit = byte.isASCIILetterOrDigit
            let isNewWord = byte.isASCIIUppercase && (previous.isASCIILowercase || previous.isASCIIDigit)
            if isNewWord || !isLetterOrDigit, let last = name.last, last != underscore { name.append(underscore) }
            if isLetterOrDigit { name.append(byte.isASCIIUppercase ? byte | 0x20 : byte) }
            previous = byte
        }
        if name.last == underscore { name.removeLast() }
        guard (1...writtenLimit).contains(name.count) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }
}
