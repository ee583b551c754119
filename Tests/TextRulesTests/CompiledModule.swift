import Foundation

@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<CChar>, _ count: Int, _ output: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// A module as the debug build has compiled it: one object file for each source file.
struct CompiledModule {
    /// A function that breaks the rule.
    struct Finding: Hashable, CustomStringConvertible {
        let file: String
        /// Demangled.
        let function: String
        let rule: String

        var description: String { "\(file): \(rule) in \(function)" }
    }

    let name: String
    let findings: [Finding]

    /// The folder of the debug build that runs these tests; nil where there is none, or one of another kind.
    static var folder: URL? {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return nil
        }
        let folder = URL(fileURLWithPath: program).deletingLastPathComponent()
        return folder.lastPathComponent == "debug" ? folder : nil
    }

    /// - Throws: where the module has no object files, or they cannot be read.
    init(_ name: String, in folder: URL) throws {
        self.name = name
        let objects = folder.appendingPathComponent("\(name).build")
        var findings: [Finding] = []
        var count = 0
        let found = FileManager.default.enumerator(at: objects, includingPropertiesForKeys: nil)
        for case let file as URL in found ?? .init() where file.lastPathComponent.hasSuffix(".swift.o") {
            count += 1
            let bytes = [UInt8](try Data(contentsOf: file))
            let references = try ObjectFile(bytes) { TextRule.name(of: $0) != nil || TextRule.isOfLogging($0) }
                .references
            let loggers = Set(references.filter { TextRule.isOfLogging($0.symbol) }.map(\.function))
            for reference in references {
                guard let rule = TextRule.name(of: reference.symbol) else { continue }
                let function = Self.demangled(reference.function)
                if TextRule.isSynthesised(function, doing: rule) { continue }
                if rule == "String as Hashable", loggers.contains(reference.function) { continue }
                findings.append(
                    Finding(file: String(file.lastPathComponent.dropLast(2)), function: function, rule: rule))
            }
        }
        guard count > 0 else { throw Missing(name: name) }
        self.findings = findings.sorted { $0.description < $1.description }
    }

    struct Missing: Error {
        let name: String
    }

    private static func demangled(_ name: String) -> String {
        name.withCString { text in
            guard let result = demangle(text, strlen(text), nil, nil, 0) else { return name }
            defer { free(result) }
            return String(cString: result)
        }
    }
}
