struct Name: Hashable {
    let text: String
}
