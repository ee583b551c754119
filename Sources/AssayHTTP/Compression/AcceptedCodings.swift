internal import AssayKit
internal import NIOHTTP1

/// The content codings that a client takes (RFC 9110, section 12.5.3), as far as they concern what is spoken here.
struct AcceptedCodings: Sendable {
    /// Weights in thousandths; of codings named twice the first counts.
    private var weights: [ExactText: Int] = [:]

    init(_ request: HTTPHeaders) {
        for member in request.members(of: "accept-encoding") {
            let parts = member.split(onASCII: ";").map(\.trimmedASCII)
            // A member that is not understood asks for nothing.
            guard let name = parts.first?.lowercasedASCII, parts.count <= 2 else { continue }
            guard let weight = parts.count == 1 ? 1000 : AcceptedCodings.weight(parts[1]) else { continue }
            // They are one and the same (section 8.4.1.3).
            let coding = name.isExactly("x-gzip") ? "gzip" : name
            if weights[coding] == nil { weights[coding] = weight }
        }
    }

    /// Whether a reply is to be compressed with gzip: the client takes that, and does not like the plain form better.
    var preferGZip: Bool {
        let gzip = weights["gzip"] ?? weights["*"] ?? 0
        return gzip > 0 && gzip >= weights["identity"] ?? 0
    }

    /// `q=0.5` in thousandths (section 12.4.2).
    private static func weight(_ text: Substring) -> Int? {
        guard text.lowercasedASCII.starts(withExactly: "q=") else { return nil }
        var rest = text.utf8.dropFirst(2)
        guard let first = rest.popFirst(), first == UInt8(ascii: "0") || first == UInt8(ascii: "1") else { return nil }
        var weight = first == UInt8(ascii: "1") ? 1000 : 0
        if let point = rest.popFirst() {
            guard point == UInt8(ascii: "."), rest.count <= 3 else { return nil }
            var place = 100
            for digit in rest {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                weight += Int(digit - UInt8(ascii: "0")) * place
                place /= 10
            }
        }
        return weight <= 1000 ? weight : nil
    }
}
