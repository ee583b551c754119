public import AssayCBOR

extension [CBORPair] {
    /// The value under a text.
    ///
    /// Setting it replaces the pair in its place or adds one at the end; nil takes it away.
    public subscript(key: String) -> CBORValue? {
        get { first { $0.key == .text(key) }?.value }
        set {
            let place = firstIndex { $0.key == .text(key) } ?? endIndex
            removeAll { $0.key == .text(key) }
            if let newValue { insert(CBORPair(.text(key), newValue), at: place) }
        }
    }
}
