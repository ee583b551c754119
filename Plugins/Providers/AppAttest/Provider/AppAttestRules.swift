internal import AssayKit

/// What a policy demands of genuine evidence.
struct AppAttestRules: Sendable {
    let environments: Set<AppAttestEnvironment>
    private let categories: Set<ValidationCategory>?
    private let allowsUnreported: Bool

    init(_ configuration: AppAttestConfiguration) throws(ConfigurationError) {
        environments = Set(configuration.environments ?? [.production])
        var problems = ConfigurationProblems()
        if environments.isEmpty {
            problems.report(at: ["environments"], "without an environment every device is refused")
        }
        if let listed = configuration.validationCategories, listed.isEmpty {
            problems.report(
                at: ["validation_categories"], "without a category every device is refused; leave the key out for any")
        }
        if configuration.unreportedValidationCategory != nil, configuration.validationCategories == nil {
            problems.report(at: ["unreported_validation_category"], "means nothing without `validation_categories`")
        }
        try problems.throwIfAny()
        categories = configuration.validationCategories.map { Set($0.map(\.category)) }
        allowsUnreported = configuration.unreportedValidationCategory != .refused
    }

    /// Why a category is not good enough; nil when it is.
    func judge(_ category: ValidationCategory?) -> Reason? {
        guard let categories else { return nil }
        guard let category else { return allowsUnreported ? nil : AppAttestReasons.validationCategoryUnreported }
        return categories.contains(category) ? nil : AppAttestReasons.validationCategoryNotAllowed
    }
}

extension AppAttestConfiguration.Category {
    fileprivate var category: ValidationCategory {
        switch self {
        case .system: .system
        case .testFlight: .testFlight
        case .development: .development
        case .appStore: .appStore
        case .enterprise: .enterprise
        case .developerID: .developerID
        }
    }
}
