import AssayCore
import Testing

@testable import AssayKit

@Suite("Places for questions to an operator's backend")
struct CallbackPlacesTests {
    @Test("No more questions are in flight than there are places; a user or token has four, a peer half of them")
    func crowd() {
        func requester(_ subject: Int, _ peer: String?) -> OperatorCallback.Requester {
            OperatorCallback.Requester(subject: ExactText("\(subject)"), peer: peer.map { FloodSource($0) })
        }
        let places = CallbackCapacity(width: 20)
        #expect((0..<10).count { _ in places.enter(requester(1, "192.0.2.1")) } == 4)
        #expect((0..<40).count { places.enter(requester(10 + $0, "192.0.2.1")) } == 6)
        #expect((0..<40).count { places.enter(requester(50 + $0, "2001:db8::\($0 + 1)")) } == 10)
        #expect(!places.enter(requester(100, nil)))
        places.leave(requester(1, "192.0.2.1"))
        #expect(places.enter(requester(1, "192.0.2.1")))
        #expect(!places.enter(requester(100, nil)))
    }
}
