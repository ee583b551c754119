func isSame(_ left: Substring, _ right: String) -> Bool { left == right }
