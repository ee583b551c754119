import SwiftUI

/// The list of orders, or why there is none.
struct OrdersView: View {
    @ObservedObject var model: OrdersModel

    var body: some View {
        List {
            switch model.content {
            case .loading: ProgressView()
            case .orders(let orders):
                ForEach(orders) { order in Text(order.title) }
            case .failed(let words): Text(words)
            }
        }
        .refreshable { await model.load() }
        .task { await model.load() }
        .task { await model.keepTokenFresh() }
    }
}
