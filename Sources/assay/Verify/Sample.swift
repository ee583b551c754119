internal import AssayCrypto
internal import AssayKit

/// A piece of evidence that was kept, and what it must agree with.
struct Sample {
    enum Kind: String {
        case attestation
        case assertion
        case receipt
    }

    let kind: Kind
    /// Where it comes from: what the file says, else the file's name.
    let source: String
    private let fields: JSON

    private static let limits = JSON.Limits(bytes: 1 << 20, depth: 16, values: 10_000, allowsRepeatedNames: false)

    init(_ bytes: [UInt8], place: String) throws(SampleError) {
        do throws(JSONError) {
            fields = try JSON.parse(bytes, limits: Self.limits)
        } catch {
            throw SampleError(error.description)
        }
        guard let kind = fields["kind"]?.string.flatMap(Kind.init(rawValue:)) else {
            throw SampleError("`kind` must be attestation, assertion or receipt")
        }
        self.kind = kind
        source = fields["source"]?.string ?? place
    }

    /// A text that must be there.
    func text(_ name: String) throws(SampleError) -> String {
        guard let text = fields[name]?.string else { throw SampleError("`\(name)` is missing") }
        return text
    }

    /// A text that may be there.
    func optionalText(_ name: String) -> String? {
        fields[name]?.string
    }

    /// Base 64 that must be there.
    func bytes(_ name: String) throws(SampleError) -> [UInt8] {
        guard let bytes = Base64.decode(try text(name)) else { throw SampleError("`\(name)` is not Base 64") }
        return bytes
    }

    /// A counter; 0 when there is none.
    func counter(_ name: String) throws(SampleError) -> UInt32 {
        guard let value = fields[name], value != .null else { return 0 }
        guard let counter = value.integer.flatMap(UInt32.init(exactly:)) else {
            throw SampleError("`\(name)` must be a number from 0 to \(UInt32.max)")
        }
        return counter
    }

    /// When a receipt was made, by the fields that were read off it.
    var created: String? {
        optionalText("created") ?? fields["fields"]?["12"]?.string
    }

    /// A time that must be there in RFC 3339.
    func time(_ text: String?) throws(SampleError) -> Instant {
        guard let text else { throw SampleError("`valid_at` is missing; give a time with --at") }
        guard let instant = Instant(rfc3339: text) else { throw SampleError("`\(text)` is no RFC 3339 time") }
        return instant
    }
}

/// Why a sample cannot be verified at all.
struct SampleError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
