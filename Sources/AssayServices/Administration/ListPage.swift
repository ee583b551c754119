internal import AssayCore

/// The part of a list that a caller asks for (AIP-158).
struct ListPage: Sendable {
    /// The largest page, which is also the default.
    static let largest = 100

    private let size: Int
    /// The name that the previous page ended with.
    private let after: String?

    init(_ fields: RequestFields) throws(InvalidRequest) {
        let wanted = try fields.integer("pageSize") ?? 0
        guard wanted >= 0 else { throw InvalidRequest("the field 'pageSize' must not be negative") }
        size = wanted == 0 ? ListPage.largest : Int(min(wanted, Int64(ListPage.largest)))
        guard let token = try fields.optionalString("pageToken") else {
            after = nil
            return
        }
        guard let bytes = Base64.decode(token), let name = String(validating: bytes, as: UTF8.self) else {
            throw InvalidRequest("the field 'pageToken' is not a token that this service issued")
        }
        after = name
    }

    /// The reply: the elements of this page under a name, and the token of the next page where there is one.
    ///
    /// - Parameter elements: all of them, in the order of their names.
    func reply(_ field: String, _ elements: [(name: String, message: JSON)]) -> JSON {
        let rest = elements.drop { element in after.map { !$0.precedesExactly(element.name) } ?? false }
        let page = rest.prefix(size)
        guard let last = page.last else { return [:] }
        var members = [JSONMember(field, .array(page.map(\.message)))]
        if rest.count > page.count {
            members.append(JSONMember("nextPageToken", .string(Base64.encodeURL(Array(last.name.utf8)))))
        }
        return .object(members)
    }
}
