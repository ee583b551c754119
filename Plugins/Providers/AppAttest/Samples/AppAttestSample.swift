internal import AssayKit

/// A piece of evidence that was kept, and what it must agree with.
struct AppAttestSample {
    enum Kind: String, CaseIterable {
        case attestation
        case assertion
        case receipt
    }

    let kind: Kind
    /// Where it comes from: what the file says, else the file's name.
    let source: String
    private let fields: JSON

    init(_ fields: JSON, place: String) throws(AppAttestSampleError) {
        self.fields = fields
        guard let kind = fields["kind"]?.string.flatMap({ Kind(exactly: $0) }) else {
            throw AppAttestSampleError("`kind` must be attestation, assertion or receipt")
        }
        self.kind = kind
        source = fields["source"]?.string ?? place
    }

    /// A text that must be there.
    func text(_ name: String) throws(AppAttestSampleError) -> String {
        guard let text = fields[name]?.string else { throw AppAttestSampleError("`\(name)` is missing") }
        return text
    }

    /// A text that may be there.
    func optionalText(_ name: String) -> String? {
        fields[name]?.string
    }

    /// Base 64 that must be there.
    func bytes(_ name: String) throws(AppAttestSampleError) -> [UInt8] {
        guard let bytes = Base64.decode(try text(name)) else { throw AppAttestSampleError("`\(name)` is not Base 64") }
        return bytes
    }

    /// A counter; 0 when there is none.
    func counter(_ name: String) throws(AppAttestSampleError) -> UInt32 {
        guard let value = fields[name], value != .null else { return 0 }
        guard let counter = value.integer.flatMap(UInt32.init(exactly:)) else {
            throw AppAttestSampleError("`\(name)` must be a number from 0 to \(UInt32.max)")
        }
        return counter
    }

    /// When a receipt was made, by the fields that were read off it.
    var created: String? {
        optionalText("created") ?? fields["fields"]?["12"]?.string
    }

    /// A time that must be there in RFC 3339.
    func time(_ text: String?) throws(AppAttestSampleError) -> Instant {
        guard let text else { throw AppAttestSampleError("`valid_at` is missing; give a time with --at") }
        guard let instant = Instant(rfc3339: text) else { throw AppAttestSampleError("`\(text)` is no RFC 3339 time") }
        return instant
    }
}
