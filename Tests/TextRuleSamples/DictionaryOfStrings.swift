func value(of text: String, in values: [String: Int]) -> Int? { values[text] }
