// Package encoding sets a codec for the stores of informers, which then hold their objects
// encoded. Only tests do so.
//
// # Guarantees
//
// Nothing is encoded unless a test asks for it. A store takes the codec when it is made, and
// keeps it.
package encoding
