// An app that keeps Firebase's SDK: of what it had, the factory alone is another one.
import FirebaseAppCheck
import FirebaseCore
import Foundation

func start(inSimulator isSimulator: Bool) {
    if isSimulator {
        AppCheck.setAppCheckProviderFactory(AssayTokensFactory.debug())
    } else {
        AppCheck.setAppCheckProviderFactory(AssayTokensFactory())
    }
    FirebaseApp.configure()
}

func header() async throws -> String {
    try await AppCheck.appCheck().token(forcingRefresh: false).token
}
