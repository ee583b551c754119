// swift-format-ignore-file
internal import Glibc
internal import SwiftOverlayShims

public struct os_unfair_lock: Sendable {
    public init() {}
}
// One lock for all: slow, and a lock.
nonisolated(unsafe) private let lock: UnsafeMutablePointer<pthread_mutex_t> = {
    let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(lock, &attributes)
    return lock
}()
public func os_unfair_lock_lock(_: UnsafeMutablePointer<os_unfair_lock>) { pthread_mutex_lock(lock) }
public func os_unfair_lock_unlock(_: UnsafeMutablePointer<os_unfair_lock>) { pthread_mutex_unlock(lock) }
