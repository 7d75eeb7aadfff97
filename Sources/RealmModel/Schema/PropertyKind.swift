/// What a property holds; the raw values are those of the public `PropertyType`.
package enum PropertyKind: UInt8, Sendable {
    case int = 0, bool, string, data, date, float, double, object, linkingObjects, any, objectId, decimal128, uuid
}
