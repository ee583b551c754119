internal import AssayCore
internal import AssayKit

/// The types of the facts of all providers.
///
/// Rules and the deny list name a fact without its provider: one name cannot be two things.
struct FactClaims {
    private var claims: [ExactText: (type: FactType, provider: String)] = [:]

    /// - Throws: `RegistryError` with both providers for a fact that another one declares with another type.
    mutating func claim(_ descriptor: PluginDescriptor) throws(RegistryError) {
        for fact in descriptor.facts {
            let name = ExactText(fact.text)
            if let other = claims[name], !other.type.isSame(as: fact.type) {
                throw RegistryError(
                    "the fact '\(fact)' is declared as \(other.type.words) by the provider \(other.provider) and as "
                        + "\(fact.type.words) by the provider \(descriptor.name)")
            }
            claims[name] = (fact.type, descriptor.name)
        }
    }
}

extension FactType {
    /// The type for an error: `integer`, `words (low, high)`.
    fileprivate var words: String {
        guard case .words(let words) = self else { return name }
        return "words (\(PlainText.line(words.map(\.string).joined(separator: ", "), limit: 200)))"
    }
}
