/// What a new package holds, and the names in its template.
enum TemplateKind: CaseIterable {
    case provider
    case consumer
    case store

    /// The word in commands, and the folder of the template.
    var word: String {
        switch self {
        case .provider: "provider"
        case .consumer: "consumer"
        case .store: "store"
        }
    }

    /// The name of the template's plugin in each of its forms, and which form takes its place.
    var names: [(String, KeyPath<PluginName, String>)] {
        switch self {
        case .provider:
            [
                ("door_lock", \.snake), ("DoorLock", \.upperCamel), ("doorLock", \.lowerCamel),
                ("door-lock", \.hyphenated),
            ]
        case .consumer:
            [
                ("visitor_pass", \.snake), ("VisitorPass", \.upperCamel), ("visitorPass", \.lowerCamel),
                ("visitor-pass", \.hyphenated),
            ]
        case .store:
            [
                ("paper_trail", \.snake), ("PaperTrail", \.upperCamel), ("paperTrail", \.lowerCamel),
                ("paper-trail", \.hyphenated),
            ]
        }
    }
}
