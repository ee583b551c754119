/// Look-ups by text in what is keyed by ``ExactText``.
extension Dictionary where Key == ExactText {
    @inlinable
    public subscript(name: String) -> Value? {
        get { self[ExactText(name)] }
        // In place: `set` would first copy a value that is a collection.
        _modify { yield &self[ExactText(name)] }
    }

    @inlinable
    public subscript(name: String, default standard: @autoclosure () -> Value) -> Value {
        get { self[ExactText(name), default: standard()] }
        _modify { yield &self[ExactText(name), default: standard()] }
    }
}

extension Set<ExactText> {
    /// The texts, each once.
    @inlinable
    public init(exactly texts: some Sequence<String>) {
        self.init(texts.lazy.map { ExactText($0) })
    }

    @inlinable
    public func contains(_ text: String) -> Bool {
        contains(ExactText(text))
    }

    @inlinable
    @discardableResult
    public mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: ExactText) {
        insert(ExactText(text))
    }
}
