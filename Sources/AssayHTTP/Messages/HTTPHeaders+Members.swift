internal import AssayKit
internal import NIOHTTP1

extension HTTPHeaders {
    /// The members of a field whose value is a list with commas (RFC 9110, section 5.6.1), each without the white space around it,
    /// in all fields of that name.
    ///
    /// Not by `subscript(canonicalForm:)`, which takes text apart by characters: a hostile run of combining marks is one
    /// character, and costs quadratic time to compare.
    func members(of name: String) -> [Substring] {
        self[name].flatMap { $0.split(onASCII: ",").map(\.trimmedASCII) }
    }
}
