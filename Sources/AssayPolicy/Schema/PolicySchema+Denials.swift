internal import AssayCore
internal import AssayKit

extension PolicySchema {
    /// An entry of the deny list: its own keys, and facts.
    var denyEntry: [JSONMember] {
        let own: [JSONMember] = [
            JSONMember(
                "jti",
                [
                    "description": "The token with this `jti`, instead of facts.", "type": "string", "minLength": 1,
                    "maxLength": 1024,
                ]),
            JSONMember(
                "app",
                [
                    "description": "The app or OAuth client that the entry is about; all when absent.",
                    "type": ["string", "null"],
                ]),
            JSONMember(
                "until",
                [
                    "description": "When the entry ends; never when absent.", "type": ["string", "null"],
                    "examples": ["2027-01-01T00:00:00Z"],
                ]),
            JSONMember(
                "note",
                [
                    "description": "Why the entry is there; records have it.", "type": ["string", "null"],
                    "examples": ["incident 42"],
                ]),
        ]
        return [
            JSONMember("type", "object"), JSONMember("properties", .object(own)),
            JSONMember("additionalProperties", condition),
        ]
    }
}
