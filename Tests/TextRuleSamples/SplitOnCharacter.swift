func parts(of text: String) -> [Substring] { text.split(separator: ",") }
