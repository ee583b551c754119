func isKnown(_ text: String, among known: Set<String>) -> Bool { known.contains(text) }
