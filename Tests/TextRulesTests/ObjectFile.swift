/// Which symbols the functions of an object file refer to (ELF, 64 bits, little-endian).
struct ObjectFile {
    struct Reference: Hashable {
        /// The mangled name of the function.
        let function: String
        /// The mangled name of what it refers to.
        let symbol: String
    }

    private struct Section {
        let type: UInt32
        let flags: UInt64
        let offset: Int
        let size: Int
        let link: Int
        let info: Int
    }

    private struct Function {
        let start: UInt64
        let name: String
    }

    struct Malformed: Error {}

    let references: Set<Reference>

    /// - Parameter isWanted: which symbols are of interest.
    init(_ bytes: [UInt8], isWanted: (String) -> Bool) throws {
        references = try bytes.withUnsafeBytes { try Self.references(Image(bytes: $0), isWanted) }
    }

    private static func references(_ image: Image, _ isWanted: (String) -> Bool) throws -> Set<Reference> {
        guard image.bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { throw Malformed() }
        let sections = try Self.sections(image)
        guard let table = sections.first(where: { $0.type == 2 }), sections.indices.contains(table.link) else {
            throw Malformed()
        }
        let names = sections[table.link]
        var wanted: [Int: String] = [:]
        var functions: [Int: [Function]] = [:]
        for (index, entry) in stride(from: table.offset, to: table.offset + table.size, by: 24).enumerated() {
            let name = try image.text(at: names.offset + Int(image.number(UInt32.self, at: entry)))
            if isWanted(name) { wanted[index] = name }
            let isFunction = try image.number(UInt8.self, at: entry + 4) & 0xF == 2
            guard isFunction else { continue }
            let section = Int(try image.number(UInt16.self, at: entry + 6))
            functions[section, default: []].append(
                Function(start: try image.number(UInt64.self, at: entry + 8), name: name))
        }
        var references: Set<Reference> = []
        // Relocations with addends, of sections that hold code.
        for section in sections where section.type == 4 {
            guard sections.indices.contains(section.info), sections[section.info].flags & 4 != 0 else { continue }
            let inOrder = (functions[section.info] ?? []).sorted { $0.start < $1.start }
            for entry in stride(from: section.offset, to: section.offset + section.size, by: 24) {
                guard let symbol = wanted[Int(try image.number(UInt64.self, at: entry + 8) >> 32)] else { continue }
                let place = try image.number(UInt64.self, at: entry)
                let after = inOrder.partition { $0.start > place }
                guard after > 0 else { continue }
                references.insert(Reference(function: inOrder[after - 1].name, symbol: symbol))
            }
        }
        return references
    }

    private static func sections(_ image: Image) throws -> [Section] {
        let start = Int(try image.number(UInt64.self, at: 0x28))
        let size = Int(try image.number(UInt16.self, at: 0x3A))
        let few = Int(try image.number(UInt16.self, at: 0x3C))
        // A file of very many sections has their number in the first of them.
        let count = few == 0 ? Int(try image.number(UInt64.self, at: start + 0x20)) : few
        return try (0..<count).map { index in
            let header = start + index * size
            return Section(
                type: try image.number(UInt32.self, at: header + 4),
                flags: try image.number(UInt64.self, at: header + 8),
                offset: Int(try image.number(UInt64.self, at: header + 0x18)),
                size: Int(try image.number(UInt64.self, at: header + 0x20)),
                link: Int(try image.number(UInt32.self, at: header + 0x28)),
                info: Int(try image.number(UInt32.self, at: header + 0x2C)))
        }
    }

    private struct Image {
        let bytes: UnsafeRawBufferPointer

        func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, at offset: Int) throws -> Number {
            guard offset >= 0, offset + MemoryLayout<Number>.size <= bytes.count else { throw Malformed() }
            return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }

        func text(at offset: Int) throws -> String {
            guard offset >= 0, offset < bytes.count, let start = bytes.baseAddress else {
                throw Malformed()
            }
            return String(cString: start.advanced(by: offset).assumingMemoryBound(to: CChar.self))
        }
    }
}

extension Array {
    /// How many elements come before the first that fulfils a condition, where all that follow fulfil it, too.
    fileprivate func partition(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
