public import Foundation

extension Decimal128 {
    /// A number of Foundation; one that holds a decimal keeps its digits.
    @_disfavoredOverload
    public init(number: NSNumber) {
        if let decimal = number as? NSDecimalNumber {
            self.init(decimal.decimalValue)
        } else {
            self.init(value: number)
        }
    }
}
