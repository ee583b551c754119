import AssayCore

enum Level: String, CaseIterable { case low, high }

struct Owner: Hashable {
    @Exact var name: String
    @Exact var aliases: [String]
}

func kept(_ text: String, _ other: String?, _ known: Set<ExactText>, _ values: [ExactText: Int]) -> Bool {
    let parts = text.split(onASCII: ",", maxSplits: 8)
    return text.isExactly("a") && other.isExactly(text) && known.contains(text) && values[text] == 1
        && text.starts(withExactly: "a") && text.lowercasedASCII.isExactly("b") && parts[0].isExactly(text)
        && ["a", "b"].contains(exactly: text) && Level(exactly: text) == .low && !other.isNil
        && Owner(name: text, aliases: []) == Owner(name: "", aliases: [text]) && text.utf8.count > 3
}
