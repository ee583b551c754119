internal import AssayKit

/// An array or a set, and what is in it.
protocol ListShape {
    static var elementType: any Decodable.Type { get }
    static var isSet: Bool { get }
}

extension Array: ListShape where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }
    static var isSet: Bool { false }
}

extension ContiguousArray: ListShape where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }
    static var isSet: Bool { false }
}

extension Set: ListShape where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }
    static var isSet: Bool { true }
}

/// A dictionary from names, and what is in it.
protocol DictionaryShape {
    static var valueType: any Decodable.Type { get }
}

/// What the keys of a mapping become in a dictionary.
protocol DictionaryName {}

extension String: DictionaryName {}
extension ExactText: DictionaryName {}

extension Dictionary: DictionaryShape where Key: DictionaryName, Value: Decodable {
    static var valueType: any Decodable.Type { Value.self }
}

/// A value that may be null.
protocol OptionalShape {
    static var wrappedType: any Decodable.Type { get }
}

extension Optional: OptionalShape where Wrapped: Decodable {
    static var wrappedType: any Decodable.Type { Wrapped.self }
}
