// Package conformance runs one suite of tests on several implementations of an informer, among them
// client-go's own. A test that client-go fails is either wrong or shows an intended difference.
//
// Each test is named after statements of the contract, TestContract_B9_..., and calls one of these
// functions, which says where the statements hold:
//
//   - each: in client-go, in our client-go API and in our typed API.
//   - clientgoAPI: in client-go and in our client-go API; the typed API has nothing like it.
//   - differs: in ours. The test makes sure that client-go fails it.
//   - crashes: in ours. client-go's process crashes, and so gets a process of its own.
//   - ours, typedOnly, ourClientgoAPI: in ours. In client-go the statement has no meaning, or does not
//     hold every time; the test gives the reason.
//
// Ours run each test twice, the second time with stores that hold encoded objects (package
// fakecodec). encoded_test.go checks how many objects are decoded then.
//
// statements_test.go lists all statements; a statement without a test fails it. The suite ends with
// a table of all tests and their results. To see it:
//
//	go test -v ./internal/testutil/conformance
package conformance
