internal import AssayCore

/// Checks the chains of audit files, file by file in the order in which they were written.
package struct AuditVerification {
    /// How many files were read.
    package var files: Int { names.count }
    /// The folders that have no audit file.
    package private(set) var emptyFolders: [String] = []
    private var names: [String] = []
    /// What was found.
    package private(set) var verifier: ChainVerifier

    /// Whether nothing is wrong.
    package var isIntact: Bool { verifier.findings.isEmpty && verifier.omitted == 0 }

    /// Reads the files of some paths.
    ///
    /// - `expected`: heads that are known from elsewhere, and must be there.
    /// - `given`: heads that are known from elsewhere, one of which the files may continue from.
    /// - Throws: ``AuditFileError`` when there is no such file, or none can be read at all.
    package init(
        _ paths: [String], expecting expected: [AuditChain.Head] = [], after given: [AuditChain.Head] = []
    ) throws(AuditFileError) {
        verifier = ChainVerifier(expecting: expected, after: given)
        // Rotated files by their names, different files by time, and then as the chain leads.
        let families = Dictionary(grouping: try AuditPaths.files(paths, empty: &emptyFolders)) { path in
            ExactText(RotatedFile.original(of: path) ?? path)
        }
        var rest = families.values.map { paths in paths.sorted(by: Self.isRotatedBefore).map { Beginning($0) } }
            .sorted { left, right in
                guard let left = left.first, let right = right.first else { return false }
                return left.isBefore(right)
            }.flatMap(\.self)
        while !rest.isEmpty {
            let head = verifier.chains.last?.last
            let next = head.flatMap { head in rest.firstIndex { $0.line.follows(head) } } ?? 0
            read(rest.remove(at: next).path)
        }
        let given = names.isEmpty ? "the given folders" : "the \(names.count) files"
        verifier.finish(saying: names.count == 1 ? names[0] : given)
    }

    /// Whether a file comes before another one of the same name: the file itself is the last.
    private static func isRotatedBefore(_ path: String, _ other: String) -> Bool {
        switch (RotatedFile.original(of: path).isNil, RotatedFile.original(of: other).isNil) {
        case (false, true): true
        case (true, false): false
        default: path.precedesExactly(other)
        }
    }

    private mutating func read(_ path: String) {
        names.append(path)
        verifier.begin(path)
        var last = 0
        do {
            try AuditReader(path).lines { line in
                last = line.number + line.count - 1
                verifier.take(line)
            }
        } catch {
            verifier.fail("\(error)", line: last + 1)
        }
    }
}

/// The first line of a chain in a file, by which files are put in order.
private struct Beginning {
    struct Line {
        let bytes: [UInt8]
        let head: AuditChain.Head?

        func follows(_ head: AuditChain.Head) -> Bool {
            self.head?.sequence == head.sequence &+ 1 && AuditChain.Line(bytes[...])?.follows(head) ?? false
        }
    }

    let path: String
    let time: Int64?
    let line: Line

    /// How many lines are read to find one of a chain.
    private static let limit = 10_000

    private struct Found: Error {
        let line: [UInt8]
    }

    init(_ path: String) {
        self.path = path
        var found: [UInt8] = []
        var count = 0
        do {
            try AuditReader(path).lines { line in
                count += line.count
                guard AuditChain.Line(line.bytes) == nil, count < Beginning.limit else {
                    throw Found(line: Array(line.bytes))
                }
            }
        } catch let error as Found {
            found = error.line
        } catch {
            // What is wrong with the file is said when it is read.
        }
        time = RecordFields(found[...])?.time
        line = Line(bytes: found, head: AuditChain.Line(found[...])?.head)
    }

    func isBefore(_ other: Beginning) -> Bool {
        switch (time, other.time) {
        case (let mine?, let theirs?) where mine != theirs: mine < theirs
        case (nil, _?): true
        case (_?, nil): false
        default:
            line.head?.sequence == other.line.head?.sequence
                ? path.precedesExactly(other.path)
                : (line.head?.sequence ?? 0) < (other.line.head?.sequence ?? 0)
        }
    }
}
