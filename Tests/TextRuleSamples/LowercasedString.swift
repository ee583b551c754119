func lowercased(_ text: String) -> String { text.lowercased() }
