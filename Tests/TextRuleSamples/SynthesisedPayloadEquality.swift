enum Answer: Equatable {
    case text(String)
    case none
}
