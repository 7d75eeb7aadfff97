/// The objects whose delete rule changes.
extension ReleaseWorld {
    /// Their class, and that of what they link to.
    static let keeperClasses = ["Keeper", "Kept"]

    /// Adds keepers; each keeps two objects of its own, and one that all of them keep.
    mutating func addKeepers() {
        var keepers: [Int: Row] = [:]
        var kept: [Int: Row] = [:]
        for number in 1...4 {
            let numbers = [10 * number, 10 * number + 1, 99]
            keepers[number] = ["n": .int(number), "kept": .ints(numbers)]
            for number in numbers { kept[number] = ["n": .int(number)] }
        }
        classes["Keeper"] = keepers
        classes["Kept"] = kept
    }

    /// Deletes a keeper as a rule says, which may deny it.
    mutating func deleteKeeper(_ number: Int, by rule: ReleaseShape.Rule) {
        guard rule != .deny, let keeper = classes["Keeper"]?.removeValue(forKey: number) else { return }
        guard rule == .cascade, case .ints(let gone)? = keeper["kept"] else { return }
        for number in gone { classes["Kept"]?[number] = nil }
        // Whoever else has linked to it does so no more.
        classes["Keeper"] = classes["Keeper"]?
            .mapValues { row in
                guard case .ints(let numbers)? = row["kept"] else { return row }
                var row = row
                row["kept"] = .ints(numbers.filter { !gone.contains($0) })
                return row
            }
    }
}
