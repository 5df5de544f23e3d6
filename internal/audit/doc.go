// Package audit compares the store of an informer with its server. Only tests call it.
//
// # Guarantees
//
//   - Each source is listed at exactly the version that the store has of it, so a change during the audit is no
//     difference.
//   - It keeps nothing and repairs nothing.
package audit
