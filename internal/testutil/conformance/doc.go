// Package conformance runs one suite of tests on several implementations of an
// informer, one of which is client-go's own: a test that client-go fails is
// either wrong or a difference that is meant.
//
// Each test is named after the statements of the contract that it is about,
// TestContract_B9_..., and says by the function that runs it where they hold:
//
//   - each: in client-go, in our client-go face and in our native face.
//   - face: in client-go and in our client-go face; the native face does not
//     speak of it.
//   - differs: in ours, and the test makes sure that client-go fails it.
//   - crashes: in ours; client-go's process dies of it, so that it is given one
//     of its own.
//   - ours, native, ourFace: in ours. In client-go it cannot be said, or does
//     not happen every time; the test says which.
//
// Ours run each test twice, the second time with stores that hold their objects encoded
// (package fakecodec). How much is decoded there is in encoded_test.go.
//
// The list of all statements stands in statements_test.go, and a test fails if
// one of them has no test. The suite ends with a table of what ran where; to
// see it:
//
//	go test -v ./internal/testutil/conformance
package conformance
