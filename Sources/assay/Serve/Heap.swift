#if canImport(Glibc)
internal import CProcess
#endif

/// The heap of this process.
enum Heap {
    /// Gives memory that is free back to the system.
    ///
    /// The allocator keeps it otherwise, for as long as anything behind it is in use: a reload of many apps would cost
    /// its memory for ever.
    static func trim() {
        #if canImport(Glibc)
        _ = assay_trim_heap()
        #endif
    }
}
