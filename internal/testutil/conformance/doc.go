// Package conformance runs one suite of tests on several implementations of an informer, including
// client-go's own. A test that client-go fails is either wrong or shows an intended difference.
//
// Each test is named after statements of the contract, such as TestContract_B9_..., and calls one of
// these functions, which says where the statements hold:
//
//   - each: in client-go, in our client-go API and in our typed API.
//   - clientgoAPI: in client-go and in our client-go API. The typed API has no equivalent.
//   - differs: in ours. The test verifies that client-go fails it.
//   - crashes: in ours. client-go's process crashes, and so runs separately.
//   - ours, typedOnly, ourClientgoAPI: in ours. In client-go the statement has no meaning, or does
//     not always hold. The test gives the reason.
//
// Our implementations run each test twice, the second time with packed objects. packed_test.go checks
// how many objects are decoded then.
//
// statements_test.go lists all statements, and fails if a statement has no test. The suite ends with a
// table of all tests and their results. To see it:
//
//	go test -v ./internal/testutil/conformance
package conformance
