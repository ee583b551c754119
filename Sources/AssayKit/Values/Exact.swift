/// Has a property that is text take part in the synthesised `==` and `hash(into:)` of its type by its UTF-8 bytes.
///
///     struct Owner: Hashable { @Exact var name: String }
@propertyWrapper
@frozen
public struct Exact<Value: ExactlyHashable & Sendable>: Hashable, Sendable {
    public var wrappedValue: Value

    @inlinable
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    public static func == (left: Exact, right: Exact) -> Bool {
        left.wrappedValue.isExactly(right.wrappedValue)
    }

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
    public func hashExactly(into hasher: inout Hasher) {
        ExactText(self).hash(into: &hasher)
    }
}

extension Optional: ExactlyHashable where Wrapped: ExactlyHashable {
    public func isExactly(_ other: Wrapped?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let mine?, let theirs?): mine.isExactly(theirs)
        default: false
        }
    }

    public func hashExactly(into hasher: inout Hasher) {
        hasher.combine(self == nil)
        self?.hashExactly(into: &hasher)
    }
}

extension Array: ExactlyHashable where Element: ExactlyHashable {
    public func isExactly(_ other: [Element]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isExactly($1) }
    }

    public func hashExactly(into hasher: inout Hasher) {
        hasher.combine(count)
        for element in self { element.hashExactly(into: &hasher) }
    }
}
