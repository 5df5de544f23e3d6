// Package encoding says whether the stores of informers hold their objects encoded,
// and by which codec. They do so in tests only.
//
// # Guarantees
//
// Nothing is encoded unless a test asks for it. A store asks once, when it is made, and
// stays as it is.
package encoding
