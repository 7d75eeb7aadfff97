import Foundation
import RealmStorage

@testable import RealmModel

/// Changes pages of a closed file below the checksums: whoever reads them finds every checksum right.
struct PageEditor {
    let path: String

    /// Flips bytes of a page, so that its checksum is wrong.
    func damage(page: PageNumber, at offset: Int = 100) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        let position = UInt64(page) * 4096 + UInt64(offset)
        try handle.seek(toOffset: position)
        let old = try handle.read(upToCount: 8) ?? Data()
        try handle.seek(toOffset: position)
        try handle.write(contentsOf: Data(old.map { ~$0 }))
    }

    /// Changes runs by a function and seals them again, with every parent up to the header, by copying the whole content to
    /// another file through a mapper that edits.
    ///
    /// - Parameters:
    ///   - target: Where the edited file is written.
    ///   - edit: Called with each copied run and the number of its kind so far; true when it changed something.
    /// - Returns: how many runs were edited.
    /// - Throws: what copying throws.
    @discardableResult
    func reseal(to target: String, _ edit: @escaping (PageKind, Int, UnsafeMutableRawPointer) -> Bool) throws -> Int {
        let snapshot = try StorageFile.open(path: path).beginRead()
        var count = 0
        try StorageFile.build(at: target, replaces: false, beginning: FileBeginning(version: 1)) { destination in
            var copier = EditingCopier(base: try PageCopier(from: snapshot.view, to: destination), edit: edit)
            try FileCompactor.copy(snapshot.catalog, in: snapshot.view, through: &copier)
            try copier.base.commit()
            count = copier.editCount
        }
        return count
    }
}

private struct EditingCopier: CatalogCopier {
    var base: PageCopier
    let edit: (PageKind, Int, UnsafeMutableRawPointer) -> Bool
    var seen: [PageKind: Int] = [:]
    var editCount = 0

    init(base: PageCopier, edit: @escaping (PageKind, Int, UnsafeMutableRawPointer) -> Bool) {
        self.base = base
        self.edit = edit
    }

    var view: PageView { base.view }
    var isExhausted: Bool { false }
    var isCutShort = false
    var transaction: WriteTransaction { base.transaction }

    mutating func beginWalk() {}

    mutating func enter(_ reference: PageReference) throws(StorageError) { try base.enter(reference) }

    mutating func mapped(
        _ reference: PageReference,
        _ changes: [(offset: Int, reference: PageReference)]
    ) throws(StorageError) -> PageReference {
        let copy = try base.mapped(reference, changes)
        let page = try base.transaction.writable(copy)
        guard let kind = PageKind(rawValue: page.bytes.load(fromByteOffset: 16, as: UInt8.self)) else { return copy }
        let number = seen[kind, default: 0]
        seen[kind] = number + 1
        guard edit(kind, number, page.bytes) else { return copy }
        editCount += 1
        return base.transaction.seal(page.reference)
    }
}
