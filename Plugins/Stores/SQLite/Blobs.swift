internal import AssayKit
internal import Foundation

// What is bound to statements. GRDB binds `Data` as a BLOB.

extension [UInt8] {
    var blob: Data { Data(self) }
}

extension StateKey {
    var spaceBlob: Data { Data(space.utf8) }
    var nameBlob: Data { Data(name.utf8) }
    var bytes: Int { space.utf8.count + name.utf8.count }
}
