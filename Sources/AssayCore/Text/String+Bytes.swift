extension String {
    /// Whether all bytes of its UTF-8 are allowed: the same as `utf8.allSatisfy`, and several times as fast.
    package func hasOnly(_ isAllowed: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isAllowed) } ?? utf8.allSatisfy(isAllowed)
    }
}
