/// The names that an object has had so far.
///
/// Most objects have few members, and comparing these costs less than a set of their names; a hostile object of many
/// gets a set, so that the work does not grow with the square of their number.
struct SeenNames {
    private static let fewest = 16

    private var names: Set<ExactText> = []

    /// Takes another name; false when one of the members before it has the same.
    mutating func insert(_ name: String, after members: [JSONMember]) -> Bool {
        if members.count < SeenNames.fewest {
            return !members.contains { $0.name.isExactly(name) }
        }
        if names.isEmpty { names = Set(members.lazy.map { ExactText($0.name) }) }
        return names.insert(ExactText(name)).inserted
    }
}
