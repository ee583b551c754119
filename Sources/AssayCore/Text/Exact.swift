/// Has a property that is text take part in the synthesised `==` and `hash(into:)` of its type by its UTF-8 bytes.
///
///     struct Owner: Hashable { @Exact var name: String }
@propertyWrapper
@frozen
public struct Exact<Value: ExactlyHashable & Sendable>: Hashable, Sendable {
    /// The value of the property.
    public var wrappedValue: Value

    /// Wraps a value.
    @inlinable
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    /// Compares the values by their UTF-8 bytes.
    public static func == (left: Exact, right: Exact) -> Bool {
        left.wrappedValue.isExactly(right.wrappedValue)
    }

    /// Hashes the value by its UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        wrappedValue.hashExactly(into: &hasher)
    }
}

/// Text, or a collection of texts, that can be compared and hashed by its UTF-8 bytes.
public protocol ExactlyHashable {
    func isExactly(_ other: Self) -> Bool
    func hashExactly(into hasher: inout Hasher)
}

extension String: ExactlyHashable {
    /// Hashes the text by its UTF-8 bytes.
    public func hashExactly(into hasher: inout Hasher) {
        ExactText(self).hash(into: &hasher)
    }
}

extension Optional: ExactlyHashable where Wrapped: ExactlyHashable {
    /// Whether both are nil, or both are the same by their UTF-8 bytes.
    public func isExactly(_ other: Wrapped?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let mine?, let theirs?): mine.isExactly(theirs)
        default: false
        }
    }

    /// Hashes whether the value is nil, and its UTF-8 bytes otherwise.
    public func hashExactly(into hasher: inout Hasher) {
        hasher.combine(self == nil)
        self?.hashExactly(into: &hasher)
    }
}

extension Array: ExactlyHashable where Element: ExactlyHashable {
    /// Whether both have the same elements in the same order, by their UTF-8 bytes.
    public func isExactly(_ other: [Element]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isExactly($1) }
    }

    /// Hashes the number of elements and the UTF-8 bytes of each.
    public func hashExactly(into hasher: inout Hasher) {
        hasher.combine(count)
        for element in self { element.hashExactly(into: &hasher) }
    }
}
