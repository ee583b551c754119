internal import AssayCore

/// A value in whose place an error is reported, and does not stop what encloses it from being read.
protocol ToleratesErrors {
    /// Without a value.
    init()
}

/// A value of a type, which is nil after an error: the error is reported, and the rest of the section is still read.
///
/// Policies, and the JSON Schema, are the same as for the type itself.
package struct Checked<Value: Decodable>: Decodable, ToleratesErrors, OptionalShape {
    static var wrappedType: any Decodable.Type { Value.self }

    /// Nil after an error, which was reported.
    package let value: Value?

    init() {
        value = nil
    }

    package init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? NodeDecoder else {
            value = try decoder.singleValueContainer().decode(Value.self)
            return
        }
        do {
            value = try decoder.session.decode(Value.self, from: decoder.node, at: decoder.path, key: decoder.key)
        } catch {
            value = nil
            decoder.session.report(error)
        }
    }
}

/// A value that is read later, when more is known; the JSON Schema is the same as for the type itself.
///
/// `Never` stands for a value whose form no type tells.
package struct Undecoded<Value: Decodable>: Decodable, ToleratesErrors, OptionalShape {
    static var wrappedType: any Decodable.Type { Value.self }

    /// Nil for a value of which only the shape is asked.
    private let place: (node: YAMLNode, path: YAMLPath)?

    init() {
        place = nil
    }

    package init(from decoder: any Decoder) {
        place = (decoder as? NodeDecoder).map { ($0.node, $0.path) }
    }

    /// The value, for a reader that reports errors to a sink.
    package func value(_ sink: DiagnosticSink) -> YAMLValue? {
        place.map { YAMLValue($0.node, path: $0.path, sink: sink) }
    }
}
