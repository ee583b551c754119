internal import AssayCore

/// An array or a set, with the type of its elements.
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

/// A dictionary with names as keys, and the type of its values.
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

/// A collection whose own decoder reads elements of one type only, so that after one has failed the others can be
/// tried as well.
protocol HomogeneousCollection {}

extension Array: HomogeneousCollection {}
extension ContiguousArray: HomogeneousCollection {}
extension Set: HomogeneousCollection {}
extension Dictionary: HomogeneousCollection {}
