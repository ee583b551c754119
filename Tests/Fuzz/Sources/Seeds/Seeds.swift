import Foundation
import Fuzz

/// Makes the files of the corpora that are not written by hand; signatures differ each time.
@main
struct Seeds {
    static func main() throws {
        guard let corpora = CommandLine.arguments.dropFirst().first else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSLocalizedDescriptionKey: "name the folder of the corpora"])
        }
        let scene = try FuzzScene.shared()
        let seeds =
            try CBORSeeds.all + EvidenceSeeds.all(scene) + AuthenticatorDataSeeds.all(scene)
            + LeafSeeds.all(scene) + ReceiptSeeds.all(scene) + TokenSeeds.all() + AndroidSeeds.all(scene)
            + PlaySeeds.all(scene)
        for seed in seeds {
            let folder = URL(fileURLWithPath: corpora).appendingPathComponent(seed.target.rawValue)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(seed.bytes).write(to: folder.appendingPathComponent(seed.name))
        }
        print("\(seeds.count) files")
    }
}
