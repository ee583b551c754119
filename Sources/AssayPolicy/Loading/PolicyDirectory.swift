public import AssayCore
public import AssayYAML

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The folder of an operator's policies: its files `*.yaml` and `*.yml`, in upper or lower case, in the order of their
/// names, but for `plugins.yaml`, which says which plugins run in processes of their own, and `*_test.yaml`, which test the
/// policies.
public struct PolicyDirectory: Sendable {
    /// The path of the folder.
    public let path: String

    private static let fileLimit = 1024
    private static let byteLimit = 64 << 20

    /// Refers to a folder; nothing is read yet.
    public init(_ path: String) {
        self.path = path
    }

    /// Reads the files; hidden ones, subfolders and files with another ending are ignored.
    ///
    /// ``read()`` warns of policies in subfolders.
    ///
    /// - Throws: `Diagnostics` when the folder or a file cannot be read, when a file is empty, when the folder has no
    ///   policy file, and beyond 1024 files or 64 MiB.
    public func files() throws(Diagnostics) -> [PolicyFile] {
        let sink = DiagnosticSink()
        let files = files(problems: sink)
        try sink.throwIfAny()
        return files
    }

    /// Reads the files with tests of the policies, `*_test.yaml` and `*_test.yml`, which are no policies.
    ///
    /// - Returns: none when the folder has none.
    /// - Throws: as ``files()``.
    public func testFiles() throws(Diagnostics) -> [PolicyFile] {
        let sink = DiagnosticSink()
        let files = files(.tests, problems: sink)
        try sink.throwIfAny()
        return files
    }

    /// Reads and loads the files.
    ///
    /// - Throws: all errors that can be found without any plugin.
    public func load() throws(Diagnostics) -> PolicySet {
        let policies = read()
        if let problems = policies.problems { throw problems }
        return policies
    }

    /// Reads the valid parts of the files, for a caller that then checks the sections of plugins: see
    /// ``PolicySet/read(_:)``.
    public func read() -> PolicySet {
        let sink = DiagnosticSink()
        let files = files(problems: sink)
        var policies = PolicySet.read(files, isWhole: sink.isEmpty, problems: sink)
        let inner = DiagnosticSink()
        if let warnings = policies.warnings { inner.report(warnings) }
        for (file, message) in filesLeftOut() {
            inner.report(Diagnostic(.warning, file: file, location: nil, message: message))
        }
        policies.warnings = inner.diagnostics
        policies.folder = path
        return policies
    }

    private static let deepest = 4
    private static let innerLimit = 1000

    /// The files that an operator may take for policies, and why they are not read.
    private func filesLeftOut() -> [(file: String, message: String)] {
        let names = ((try? Self.entries(of: path, limit: Self.innerLimit)) ?? []).sortedExactly()
        let beside = names.compactMap { name in Self.reasonToLeaveOut(name).map { (file(name), $0) } }
        let tests = files(.tests, problems: DiagnosticSink()).filter { file in
            let lines = String(decoding: file.bytes, as: UTF8.self).split(onASCII: "\n")
            return lines.contains { line in Self.telling.contains { line.utf8.starts(with: "\($0):".utf8) } }
        }
        return beside
            + tests.map {
                (
                    $0.name,
                    "is not read: a file whose name ends in _test has tests, and this one has a section of policies"
                )
            }
            + filesOfSubfolders().map {
                ($0, "is in a subfolder, so it is not read: policies are the files of the folder itself")
            }
    }

    /// The keys of the root that policies have and tests do not.
    private static let telling = RootSection.CodingKeys.names.filter { !["version"].contains(exactly: $0) }

    /// Why a file with a name that resembles one of policies is not read; nil for all other files.
    private static func reasonToLeaveOut(_ name: String) -> String? {
        let lowered = name.lowercasedASCII
        if name.starts(withExactly: ".") {
            // Kubernetes' own links begin with two dots, and an editor's lock with `.#`.
            let isEditors = [".", "#"].contains { name.utf8.dropFirst().starts(with: $0.utf8) }
            return isEditors || kind(of: name) == nil
                ? nil : "is hidden, so it is not read: its name begins with a point"
        }
        if [".yaml.txt", ".yml.txt", ".ymal", ".yalm"].contains(where: { lowered.ends(withExactly: $0) }) {
            return "is not read: the names of policies end in .yaml or .yml"
        }
        if lowered.ends(withExactly: ".json"), !lowered.ends(withExactly: ".schema.json") {
            return "is not read: the names of policies end in .yaml or .yml"
        }
        return nil
    }

    /// The files in subfolders that would be read in the folder itself; hidden folders, in which Kubernetes keeps the versions of a
    /// volume, are left out.
    private func filesOfSubfolders() -> [String] {
        var found: [String] = []
        var seen = 0
        func look(_ folder: String, _ depth: Int) {
            guard let names = try? Self.entries(of: folder, limit: Self.innerLimit) else { return }
            for name in names.sortedExactly() where !name.starts(withExactly: ".") {
                seen += 1
                guard seen <= Self.innerLimit else { return }
                let path = folder.ends(withExactly: "/") ? folder + name : "\(folder)/\(name)"
                if depth > 0, Self.kind(of: name) != nil { found.append(path) }
                var status = stat()
                if depth < Self.deepest, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                    look(path, depth + 1)
                }
            }
        }
        look(path, 0)
        return found
    }

    /// The names in a folder, in no order.
    private static func entries(of folder: String, limit: Int) throws(Diagnostics) -> [String] {
        guard let directory = opendir(folder) else {
            let number = errno
            throw problem(
                folder,
                number == ENOTDIR
                    ? "not a folder: policies are read together, so name the folder that they are in"
                    : String(cString: strerror(number)))
        }
        defer { closedir(directory) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    /// The state of the files that would be read now: it differs when any of them, or a link on the way to one, was
    /// changed, added, removed or replaced.
    public var fingerprint: FileFingerprint {
        let names = try? names()
        // If the names cannot be listed, the folder itself tells why: it is missing, or may not be read.
        return FileFingerprint(of: names.map { $0.map(file) } ?? [path])
    }

    /// The name of the file with the plugins in other processes, which is no policy.
    static let pluginsName = "plugins.yaml"

    /// The path of the file with the plugins in other processes; nil when the folder has none.
    package var pluginsPath: String? {
        access(possiblePluginsPath, F_OK) == 0 ? possiblePluginsPath : nil
    }

    /// The path that the file with the plugins in other processes would have.
    package var possiblePluginsPath: String { file(Self.pluginsName) }

    /// The file with the plugins in other processes; nil when the folder has none.
    ///
    /// - Throws: why it cannot be read.
    package func pluginsFile() throws(Diagnostics) -> PolicyFile? {
        guard let path = pluginsPath else { return nil }
        return PolicyFile(name: path, bytes: try contents(of: path, limit: 1 << 20))
    }

    /// The paths of the policies, their tests and the file with the plugins in other processes, in the order of their names.
    ///
    /// - Throws: when the folder cannot be read or has none, and beyond 1024 policies.
    package func paths() throws(Diagnostics) -> [String] {
        let names = try names(.policies) + names(.tests) + (pluginsPath.map { _ in [Self.pluginsName] } ?? [])
        guard !names.isEmpty else { throw noPolicy }
        return names.sortedExactly().map(file)
    }

    private var noPolicy: Diagnostics {
        problem(path, "has no policy: no file that ends in .yaml or .yml")
    }

    /// What a file of the folder says.
    enum Kind {
        case policies
        case tests
    }

    private func files(_ kind: Kind = .policies, problems: DiagnosticSink) -> [PolicyFile] {
        var files: [PolicyFile] = []
        var total = 0
        do throws(Diagnostics) {
            let names = try names(kind)
            if names.isEmpty, kind == .policies { throw noPolicy }
            for name in names where !problems.isOverfull && total <= PolicyDirectory.byteLimit {
                let file = file(name)
                do throws(Diagnostics) {
                    let bytes = try contents(of: file, limit: PolicyDirectory.byteLimit - total)
                    files.append(PolicyFile(name: file, bytes: bytes))
                    total += bytes.count
                } catch {
                    problems.report(error)
                }
            }
        } catch {
            problems.report(error)
        }
        return files
    }

    private func file(_ name: String) -> String {
        path.ends(withExactly: "/") ? path + name : "\(path)/\(name)"
    }

    private func names(_ kind: Kind = .policies) throws(Diagnostics) -> [String] {
        let names = try Self.entries(of: path, limit: .max).filter {
            !$0.starts(withExactly: ".") && Self.kind(of: $0) == kind
        }
        guard names.count <= PolicyDirectory.fileLimit else {
            throw problem(
                path,
                "has more than \(PolicyDirectory.fileLimit) \(kind == .policies ? "policy files" : "files with tests")")
        }
        return names.sortedExactly()
    }

    /// Files from Windows may have upper-case endings, which count as others do.
    ///
    /// - Returns: nil for a file that is not read.
    static func kind(of name: String) -> Kind? {
        let parts = name.split(onASCII: ".")
        guard parts.count > 1, let ending = parts.last, !name.isExactly(pluginsName),
            ending.isExactlyIgnoringASCIICase("yaml") || ending.isExactlyIgnoringASCIICase("yml")
        else { return nil }
        let isTest = parts[parts.count - 2].lowercasedASCII.ends(withExactly: "_test")
        return isTest ? .tests : .policies
    }

    private func contents(of file: String, limit: Int) throws(Diagnostics) -> [UInt8] {
        try Self.contents(
            of: file, limit: limit,
            excess: "the policies together are larger than \(PolicyDirectory.byteLimit >> 20) MiB")
    }

    /// The bytes of a regular file, at least one.
    ///
    /// - Parameter excess: the message for more bytes than `limit`.
    package static func contents(of file: String, limit: Int, excess: String) throws(Diagnostics) -> [UInt8] {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw problem(file, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw problem(file, "is not a regular file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = readBytes(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw problem(file, String(cString: strerror(errno))) }
            if count == 0 {
                // Some editors empty a file before they write it: an empty file, read as it is, would remove every app.
                if bytes.isEmpty {
                    throw problem(file, "the file is empty; if that is intended, put a comment in it")
                }
                return bytes
            }
            bytes.append(contentsOf: buffer.prefix(count))
            guard bytes.count <= limit else {
                throw problem(file, excess)
            }
        }
    }

    private func problem(_ place: String, _ message: String) -> Diagnostics { Self.problem(place, message) }

    private static func problem(_ place: String, _ message: String) -> Diagnostics {
        Diagnostics(Diagnostic(file: place, location: nil, message: message))
    }
}

// Inside the type above, the name means its own method.

private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, start, count)
}

/// A policy file's name and bytes.
public struct PolicyFile: Sendable {
    /// The name for messages.
    public let name: String
    /// The text in UTF-8.
    public let bytes: [UInt8]

    /// Makes a file that need not exist on disk.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// A policy file from its text.
    public init(name: String, text: String) {
        self.init(name: name, bytes: Array(text.utf8))
    }
}
