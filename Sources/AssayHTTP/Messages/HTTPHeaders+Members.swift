internal import AssayKit
internal import NIOHTTP1

extension HTTPHeaders {
    private static let memberLimit = 64

    /// The members of a field whose value is a list with commas (RFC 9110, section 5.6.1), each without the white space around it,
    /// in all fields of that name.
    ///
    /// At most 64 of them are taken apart, more than any client sends: what follows is one member, which equals none that is known.
    ///
    /// Not by `subscript(canonicalForm:)`, which takes text apart by characters: a hostile run of combining marks is one
    /// character, and costs quadratic time to compare.
    func members(of name: String) -> [Substring] {
        var members: [Substring] = []
        for value in self[name] {
            let room = members.count < HTTPHeaders.memberLimit ? HTTPHeaders.memberLimit - members.count : 0
            members += value.split(onASCII: ",", maxSplits: room).map(\.trimmedASCII)
        }
        return members
    }
}
