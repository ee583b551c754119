func isSecure(_ text: String) -> Bool { text.hasPrefix("https://") }
