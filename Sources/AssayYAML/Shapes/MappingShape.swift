package import AssayCore

/// The keys that a type asks for when it is decoded from a mapping.
package struct MappingShape {
    package struct Field {
        package let key: String
        package let type: any Decodable.Type
        package let isRequired: Bool
    }

    /// In the order in which they are asked for.
    package let fields: [Field]
    /// Whether the type asks for these keys in any case, and for no others.
    package let isFixed: Bool
    private let type: any Decodable.Type

    /// Nil for a type that asks for no keys.
    init?(_ type: any Decodable.Type, _ runs: [Probe]) {
        // A type without properties asks for nothing at all.
        let isEmpty = runs.allSatisfy { $0.isComplete && $0.log.wholes.isEmpty && !$0.log.isOpaque }
        guard isEmpty || runs.contains(where: \.log.isKeyed) else { return nil }
        self.type = type
        var keys: [String] = []
        for key in runs.flatMap(\.log.keys) where !keys.contains(exactly: key) { keys.append(key) }
        let fields = keys.compactMap { key -> Field? in
            let asked = runs.compactMap { run in run.log.fields.first { $0.key.isExactly(key) } }
            guard let first = asked.first else { return nil }
            let isRequired = asked.count == runs.count && asked.allSatisfy(\.isRequired)
            return Field(key: key, type: first.type, isRequired: isRequired)
        }
        self.fields = fields
        isFixed = runs.allSatisfy { run in
            run.isComplete && !run.log.isOpaque && run.log.keys.count == keys.count && keys.count == fields.count
        }
    }

    /// The type's descriptions of its keys.
    package var descriptions: [ExactText: PolicyKey] {
        (type as? any DescribedConfiguration.Type)?.keys ?? [:]
    }

    /// Groups of keys of which exactly one must be present.
    package var alternatives: [[String]] {
        (type as? any DescribedConfiguration.Type)?.alternatives ?? []
    }
}
