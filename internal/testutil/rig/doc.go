// Package rig has what tests of informers share: sources that a test controls, handlers that record their calls, and
// transforms that fail. It is for tests of package informer, of its engine, and of what imports them. Package kit has
// the helpers that know no informer.
//
// # Guarantees
//
//   - A journal has one line for each call, in the order of the calls: "add a@1", "update a@1 a@2", "delete a@2",
//     "lost a@2", and "initial a@1" for the initial state.
//   - What takes a *testing.T and starts something ends it before the test ends.
//   - All but [Eventually] and [Apart] may be used in a synctest bubble only, unless a handler is merely called.
package rig
