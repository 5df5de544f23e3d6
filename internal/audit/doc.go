// Package audit compares the store of an informer with its server. Only tests call it.
//
// # Guarantees
//
//   - The audit lists each source at exactly the store's version, so changes during the audit do
//     not count as differences.
//   - The audit keeps nothing and repairs nothing.
package audit
