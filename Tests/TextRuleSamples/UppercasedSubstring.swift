func uppercased(_ text: Substring) -> String { text.uppercased() }
