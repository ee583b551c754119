func isListed(_ text: String, in list: [String]) -> Bool { list.contains(text) }
