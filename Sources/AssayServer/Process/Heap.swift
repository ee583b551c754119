#if canImport(Glibc)
internal import CProcess
#endif

/// The heap of this process.
enum Heap {
    /// Gives memory that is free back to the system.
    ///
    /// Otherwise the allocator keeps it for as long as anything after it is in use: a reload of many apps would keep
    /// its memory forever.
    static func trim() {
        #if canImport(Glibc)
        _ = assay_trim_heap()
        #endif
    }
}
