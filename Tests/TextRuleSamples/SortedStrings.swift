func sorted(_ texts: [String]) -> [String] { texts.sorted() }
