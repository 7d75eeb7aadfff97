/// Where everything stands in `<file>.lock`, the memory that all processes with a realm file open share.
///
/// `Docs/FileFormat.md` has the same as a table. Words named `reserved…` are 0, and whoever comes to use them raises ``version``.
enum LockFileLayout {
    static let magic: UInt64 = 0x6B4C_6D6C_6165_5241  // "ARealmLk"
    static let version: UInt32 = 7
    /// The layouts of which the words that outlive a process stand at the same offsets.
    static let readableVersions: ClosedRange<UInt32> = 3...7
    /// The first layout that says what the machine's run was, and how far a log is durable.
    static let versionWithLog: UInt32 = 4

    /// The words of the file as a whole.
    enum Word {
        static let magic = 0
        static let layoutVersion = 8
        static let fileID = 16
        static let newestVersion = 24
        static let wake = 32
        static let reservedDoorbell = 36
        static let writerProcess = 40
        static let watcherCount = 44
        static let slotEnd = 48
        static let turn = 52
        static let turnWaiterCount = 56
        static let isRecovered = 60
        static let device = 64
        static let inode = 72
        static let refusedHeader = 80
        static let writerNanosecond = 88
        static let writerPlace = 96
        static let writerSlot = 100
        static let bootID = 104
        static let logImage = 120
        static let durableOffset = 128
        static let reservedAcknowledgedPosition = 136
        static let logID = 144
        static let reservedCheckpoint = 152
        static let reservedCandidate = 160
        static let reservedCandidateState = 168
        static let stopped = 172
        static let reservedPageCommit = 176
        static let failedOffset = 184
        static let failedChain = 192
        static let ruleWithdrawer = 200
        static let pageFlush = 256
        static let reservedFlushNotes = 264
        static let reservedCounters = 512
        /// By the number of a table: the row keys below these were given out.
        static let rowKeys = 2048
        static let rowKeyCount = 256
        static let end = 4096
    }

    static let processIDs = Word.end
    static let waitingThreads = processIDs + 4 * slotCount
    /// Two places for the header of the newest version.
    static let images = waitingThreads + 4 * slotCount
    static let imageByteCount = 8192
    static let baseByteCount = images + 2 * imageByteCount

    static let slotCount = 1024
    /// Each process slot has an area of its own behind the base.
    static let areaByteCount = 131_072

    /// What stands in the area of a process, from its begin on.
    enum Area {
        static let openingNanosecond = 0
        static let readerEnd = 8
        static let reservedHeartbeat = 16
        static let reservedDoorbell = 24
        static let ruleCount = 32
        static let reservedCounters = 64
        static let places = 4096
        static let placeByteCount = 128
        static let placeCount = 128
        static let rules = places + placeByteCount * placeCount
        static let readers = 65_536
    }

    /// An entry of a process's table of readers.
    enum Reader {
        static let version = 0
        static let second = 8
        static let place = 12
        static let byteCount = 16
    }

    static let readerCount = 4096
    /// The entries that are made room for at once.
    static let readerStep = 256

    static func area(_ slot: Int) -> Int { baseByteCount + slot * areaByteCount }

    // Locks on bytes far behind the content.
    static let initialisationByte: Int64 = 1 << 40
    static let writeByte: Int64 = 1 << 41
    static let checkpointByte: Int64 = (1 << 41) + 1
    static let processByte: Int64 = 1 << 42
    /// In the realm file: locked by every process that shares a lock file.
    static let presenceByte: Int64 = 1 << 43
    /// In the realm file: locked by readers that cannot write the lock file.
    static let outsiderByte: Int64 = (1 << 43) + 1
}
