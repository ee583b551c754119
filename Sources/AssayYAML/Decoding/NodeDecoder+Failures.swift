internal import AssayCore

extension NodeDecoder {
    /// An error that a type's initializer threw, with its place; an error with a place is returned unchanged.
    func failure(for error: any Error) -> LocatedFailure {
        if (type as? any WrittenAsText.Type)?.textForm.mayBeSecret == true { node.conceal() }
        return LocatedFailure(in: error) ?? LocatedFailure(diagnostics(for: error))
    }

    /// A failure as decoders throw it.
    func error(_ failure: LocatedFailure) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: codingPath, debugDescription: failure.diagnostics.first?.message ?? "",
                underlyingError: failure))
    }

    /// The problem of a missing key.
    func missing(_ key: String, _ log: KeyLog) -> Diagnostic {
        YAMLMapping.missing(key, in: node, path: path, log: log, known: fixedShape?.fields.map(\.key) ?? [])
    }

    /// A failure and the other errors in a mapping whose decoding was abandoned: each key that the type would have
    /// asked for is checked separately.
    func completed(_ failure: LocatedFailure) -> LocatedFailure {
        guard let log = sharedLog else { return failure }
        guard let shape = fixedShape else {
            log.isIncomplete = true
            return failure
        }
        var diagnostics = failure.diagnostics
        var absent: [MappingShape.Field] = []
        for field in shape.fields where !log.isKnown(field.key) && diagnostics.count < LocatedFailure.limit {
            guard let index = log.index(field.key) else {
                absent.append(field)
                continue
            }
            let entry = log.entries[index]
            let value = entry.value
            if value.isAbsent { diagnostics.append(entry.lacksValue(in: path)) }
            if value.isAbsent || value.isNull && !field.isRequired { continue }
            diagnostics += session.problems(
                of: field.type, value, at: path.key(field.key), key: shape.descriptions[field.key])
        }
        diagnostics += absent.filter(\.isRequired).map { missing($0.key, log) }
        return LocatedFailure(diagnostics)
    }

    /// The keys that the type asks for in any case; nil when that is not known.
    private var fixedShape: MappingShape? {
        guard let type, case .mapping(let shape) = ValueShape(of: type), shape.isFixed else { return nil }
        return shape
    }

    private func diagnostics(for error: any Error) -> [Diagnostic] {
        if let error = error as? ConfigurationError { return node.diagnostics(for: error, path: path) }
        guard let error = error as? DecodingError, let context = error.context else {
            return [node.diagnostic(String(describing: error), path: path)]
        }
        let steps = context.codingPath.dropFirst(path.components.count).map { ConfigurationError.Component($0) }
        if case .keyNotFound(let key, _) = error {
            return [
                node.descendant(steps).diagnostic(
                    "missing key \(DisplayText.quoted(key.stringValue))",
                    path: path.appending(steps).key(key.stringValue))
            ]
        }
        if steps.isEmpty, let type, let mismatch = ClosedChoice.mismatch(type, node) {
            return [node.diagnostic(mismatch.message, path: path, hint: mismatch.hint)]
        }
        return [node.descendant(steps).diagnostic(context.debugDescription, path: path.appending(steps))]
    }
}

/// Problems that already know their places, on their way up through `Decodable` initializers.
struct LocatedFailure: Error {
    let diagnostics: [Diagnostic]

    /// How many problems one decoding gathers before it stops.
    static let limit = 100

    init(_ diagnostics: [Diagnostic]) {
        self.diagnostics = diagnostics
    }

    /// The problems within an error; nil for an error that has no place yet.
    init?(in error: any Error) {
        if let failure = error as? LocatedFailure {
            self = failure
        } else if let context = (error as? DecodingError)?.context, let failure = context.underlyingError {
            guard let located = failure as? LocatedFailure else { return nil }
            self = located
        } else {
            return nil
        }
    }
}

extension DecodingError {
    var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }
}
