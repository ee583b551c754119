internal import AssayCore

/// The results of one decoding in addition to its value, and the way every value in it is decoded.
final class DecodingSession {
    /// What was found without an end to the decoding: unknown keys, and errors in values that are ``Checked``.
    let reports = DiagnosticSink(limit: LocatedFailure.limit)

    /// A value of any type at a node.
    ///
    /// Throws only errors that have their place.
    ///
    /// - Parameters:
    ///   - outer: the decoder of the same node when a type takes it as a whole: they share the keys.
    ///   - key: describes the value.
    func decode<T: Decodable>(
        _ type: T.Type, from node: YAMLNode, at path: @autoclosure () -> YAMLPath, inside outer: NodeDecoder? = nil,
        key: PolicyKey? = nil
    ) throws -> T {
        do throws(YAMLMismatch) {
            if let scalar = try Self.scalar(type, node) {
                try key?.check(node)
                return scalar
            }
        } catch {
            let path = path()
            throw mismatch(type, node, path, error)
        }
        let isHomogeneous = type is any HomogeneousCollection.Type
        let decoder = NodeDecoder(
            node, path: path(), session: self, decoding: type, isHomogeneous: isHomogeneous, key: key,
            sharing: outer?.sharedLog)
        let value: T
        do {
            value = try T(from: decoder)
            // Swift makes enumerations of strings by canonical equivalence; a policy has one spelling for each case.
            if case .scalar(let text, _) = node.content, let choice = value as? any RawRepresentable,
                let name = choice.rawValue as? String, value is any CaseIterable, !name.isExactly(text),
                let other = ClosedChoice.mismatch(type, node)
            {
                throw decoder.mismatch(type, other)
            }
            if let key, key.enforcement != nil, !(type is any ToleratesErrors.Type) {
                do throws(YAMLMismatch) { try key.check(node) } catch { throw decoder.mismatch(type, error) }
            }
        } catch {
            // A name of an enumeration is text, but what is no text, such as `true`, is not the point then.
            if case .scalar(_, isPlain: true) = node.content, (try? node.string()).isNil,
                let choice = ClosedChoice.mismatch(type, node)
            {
                throw decoder.mismatch(type, choice)
            }
            let failure = decoder.completed(decoder.failure(for: error))
            if decoder.log?.isIncomplete == false { decoder.reportUnknownKeys() }
            throw decoder.error(failure)
        }
        decoder.reportUnknownKeys()
        return value
    }

    /// Keeps an error with its place, for a value without which the decoding continues.
    func report(_ error: any Error) {
        for diagnostic in LocatedFailure(in: error)?.diagnostics ?? [] { reports.report(diagnostic) }
    }

    /// The errors of a single value; none when it can be decoded.
    func problems<T: Decodable>(
        of type: T.Type, _ node: YAMLNode, at path: YAMLPath, key: PolicyKey? = nil
    ) -> [Diagnostic] {
        do {
            _ = try decode(type, from: node, at: path, key: key)
            return []
        } catch {
            return LocatedFailure(in: error)?.diagnostics ?? []
        }
    }

    /// - Parameter owner: the type of the value, which knows whether it may be a secret.
    func mismatch(
        _ type: any Any.Type, _ node: YAMLNode, _ path: YAMLPath, _ mismatch: YAMLMismatch,
        of owner: (any Decodable.Type)? = nil
    ) -> DecodingError {
        let diagnostic: Diagnostic
        if let owner, ValueShape(of: owner).mayHoldSecret {
            node.conceal()
            diagnostic = node.diagnostic(mismatch.reticent, path: path)
        } else {
            diagnostic = node.diagnostic(mismatch.message, path: path, hint: mismatch.hint)
        }
        return .typeMismatch(
            type,
            .init(
                codingPath: path.codingPath, debugDescription: diagnostic.message,
                underlyingError: LocatedFailure([diagnostic])))
    }

    /// The types that are read from text directly; nil for all others.
    private static func scalar<T>(_ type: T.Type, _ node: YAMLNode) throws(YAMLMismatch) -> T? {
        if type == String.self { return try node.string() as? T }
        if type == Bool.self { return try node.bool() as? T }
        if type == Int.self { return try node.integer(Int.self) as? T }
        if type == Duration.self { return try node.duration() as? T }
        if type == Double.self { return try node.double() as? T }
        if type == Float.self { return try node.float() as? T }
        if type == Int64.self { return try node.integer(Int64.self) as? T }
        if type == Int32.self { return try node.integer(Int32.self) as? T }
        if type == Int16.self { return try node.integer(Int16.self) as? T }
        if type == Int8.self { return try node.integer(Int8.self) as? T }
        if type == UInt.self { return try node.integer(UInt.self) as? T }
        if type == UInt64.self { return try node.integer(UInt64.self) as? T }
        if type == UInt32.self { return try node.integer(UInt32.self) as? T }
        if type == UInt16.self { return try node.integer(UInt16.self) as? T }
        if type == UInt8.self { return try node.integer(UInt8.self) as? T }
        return nil
    }
}
