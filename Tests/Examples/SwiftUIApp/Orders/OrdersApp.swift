import SwiftUI

@main
struct OrdersApp: App {
    @StateObject private var model = OrdersModel()

    var body: some Scene {
        WindowGroup {
            OrdersView(model: model)
        }
    }
}
