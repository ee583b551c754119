func isFolder(_ text: Substring) -> Bool { text.hasSuffix("/") }
