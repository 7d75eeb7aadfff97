public import Foundation

/// Lets `catch let error as NSError` catch realm errors.
///
/// The compiler takes such a clause for one that catches everything, as it does on Apple's platforms; on Linux an error of Swift's
/// passes it by, unless it bridges as the value types of Foundation do, through the standard library's protocol.
extension Realm.Error: _ObjectiveCBridgeable {
    /// What a realm error is for code that knows `NSError` only.
    public typealias _ObjectiveCType = NSError

    /// The error with its domain, its code and its ``errorUserInfo``.
    public func _bridgeToObjectiveC() -> NSError {
        NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    /// Converts back; there is an error for each one of the domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Realm.Error?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    /// Converts back; false for errors of other domains.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout Realm.Error?) -> Bool {
        guard source.domain == errorDomain, let code = Code(rawValue: source.code) else { return false }
        result = Realm.Error(code, userInfo: source.userInfo)
        return true
    }

    /// Converts back what is known to be a realm error.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Realm.Error {
        var result: Realm.Error?
        if let source { _forceBridgeFromObjectiveC(source, result: &result) }
        return result ?? Realm.Error(.fail)
    }
}

extension Realm.Error {
    /// Creates an error from what Foundation's errors carry: text, path of the file and the error below.
    public init(_ code: Code, userInfo: [String: Any]) {
        self.init(
            code,
            userInfo[NSLocalizedDescriptionKey] as? String,
            fileURL: (userInfo[NSFilePathErrorKey] as? String).map { URL(fileURLWithPath: $0) },
            underlyingError: userInfo[NSUnderlyingErrorKey] as? any Swift.Error
        )
    }
}
