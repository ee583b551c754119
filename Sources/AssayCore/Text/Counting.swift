extension BinaryInteger {
    /// The number with a noun, or with a noun and its verb: `1 record`, `2 records`.
    ///
    /// - Parameters:
    ///   - one: the words behind 1.
    ///   - many: the words behind every other number; by default, `one` with an `s`.
    package func counting(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? "\(one)s")"
    }
}
