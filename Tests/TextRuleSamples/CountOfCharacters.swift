func length(of text: String) -> Int { text.count }
