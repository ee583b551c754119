internal import AssayCore
internal import AssayKit
internal import AssayYAML

extension PolicySchema {
    /// An entry of the deny list: its own keys, and facts.
    var denyEntry: [JSONMember] {
        func member(_ name: String, _ shape: ValueShape, _ key: PolicyKey) -> JSONMember {
            JSONMember(name, .object(ShapeSchema.members(of: shape, key)))
        }
        let own = [
            member("jti", .text, PolicyKey("The token with this `jti`, instead of facts.", .length(1...1024))),
            member("app", .text, PolicyKey("The app or OAuth client that the entry is about; all when absent.")),
            member(
                "until", ValueShape(of: Instant.self),
                PolicyKey("When the entry ends; never when absent.", examples: ["2027-01-01T00:00:00Z"])),
            member(
                "note", .text,
                PolicyKey("Why the entry is there; records have it.", .length(0...200), examples: ["incident 42"])),
        ]
        return [
            JSONMember("type", "object"), JSONMember("properties", .object(own)),
            JSONMember("additionalProperties", condition),
        ]
    }
}
