func number(of text: String) -> Int {
    switch text {
    case "one": 1
    default: 0
    }
}
