internal import HummingbirdCore

/// Lets the listening socket take a connection when there is a slot for it.
struct ConnectionGate: AvailableConnectionsDelegate {
    let slots: ConnectionSlots

    func connectionOpened() { slots.opened() }
    func connectionClosed() { slots.closed() }
    func isAcceptingNewConnections() -> Bool { slots.hasRoom() }
}
