func precedes(_ left: String, _ right: String) -> Bool { left < right }
