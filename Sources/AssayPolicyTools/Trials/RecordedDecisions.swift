internal import AssayCore
internal import AssayEngine
internal import AssayPolicy
internal import AssayYAML

/// The audit files that tests name, each read once.
struct RecordedDecisions {
    private static let fileLimit = 64 << 20
    /// All files together.
    private static let totalLimit = 256 << 20

    private var files: [ExactText: [UInt8]] = [:]
    private var total = 0

    /// The decision that `{record, id}` names; nil, and reported, when there is none.
    ///
    /// - Parameter file: the file with the test, in whose folder a relative path begins.
    mutating func find(_ value: YAMLValue, beside file: String) -> RecordedDecision? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        let record = section.required("record")
        let wanted = section.required("id")
        guard let record, let wanted, let name = record.decode(String.self), let id = wanted.decode(String.self) else {
            return nil
        }
        guard !id.isEmpty, id.utf8.count <= 64, id.utf8.allSatisfy(\.isASCIILetterOrDigit) else {
            wanted.report("expected the identifier of a decision")
            return nil
        }
        let bytes: [UInt8]
        do throws(Diagnostics) {
            bytes = try contents(Self.path(name, beside: file))
        } catch {
            record.report("\(name): \(error.all.first?.message ?? "cannot be read")")
            return nil
        }
        let mark = Array("\"\(id)\"".utf8)
        for line in bytes.split(separator: UInt8(ascii: "\n")) where Self.contains(line, mark) {
            guard case .decision(let decision) = RecordedDecision.read(line), decision.id.isExactly(id) else {
                continue
            }
            return decision
        }
        wanted.report("the file has no decision `\(id)`")
        return nil
    }

    private mutating func contents(_ path: String) throws(Diagnostics) -> [UInt8] {
        if let known = files[path] { return known }
        let bytes = try PolicyDirectory.contents(
            of: path, limit: min(Self.fileLimit, Self.totalLimit - total), excess: "the file is larger than 64 MiB")
        total += bytes.count
        files[path] = bytes
        return bytes
    }

    private static func path(_ name: String, beside file: String) -> String {
        guard !name.starts(withExactly: "/"), let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return name
        }
        return "\(file[...slash])\(name)"
    }

    private static func contains(_ line: ArraySlice<UInt8>, _ mark: [UInt8]) -> Bool {
        guard line.count >= mark.count, let first = mark.first else { return false }
        var rest = line
        while let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: mark) { return true }
            rest = rest[(start + 1)...]
        }
        return false
    }
}
