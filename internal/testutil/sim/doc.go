// Package sim tests an informer in simulated worlds. A world has a server that fails in every way in
// which servers fail, handlers that come, go, lag and panic, and consistency checkers. The package
// contains only tests.
//
// A seed makes one world of each sort: a setup and a list of steps, drawn before anything runs
// (plan_test.go). The driver plays the steps in a synctest bubble, where time is virtual (world_test.go,
// operations_test.go). The server is informertest's. A source between the server and the informer
// injects faults (source_test.go, stream_test.go). The informer's handlers record their events, and may
// be slow, block, panic or leave (handler_test.go). The reference model knows every version of each
// object (model_test.go). The checkers compare the informer with the model (check_test.go).
//
// Other things happen in the worlds, too. Objects move between the sources of an informer
// (moves_test.go). A user writes into the store, even before the informer starts (byhand_test.go).
// Goroutines read the objects during bursts (reads_test.go) and the informer's status
// (observer_test.go), wait for delivery, and add and remove handlers under load (load_test.go).
// Transforms rename objects, fail and return nil (renames_test.go). Handlers, transforms and index
// functions end their goroutines. Garbage and races do not occur in virtual time, so stress_test.go
// tests them.
//
// In two of three worlds the informer packs its objects (packed_test.go), with or without a budget. The
// checkers then compare objects by value. In some of these worlds the program writes into the objects
// that it gets, and no other reader may see these writes. In the other worlds, each object that a
// handler or the driver gets is kept until the end, and must never change (frozen_test.go).
//
// Aging worlds (aging_test.go) simulate months of rollouts. At the end they compare the heap of the
// informer with that of a new one.
//
// In some worlds the resource itself is removed and comes back, and requests are denied with 404 or 401
// (resource_test.go). In others the informers belong to factories and run once, as long as leases
// (tenants_test.go) or pins (pins_test.go) hold them and the context of their Start lives.
//
// The worlds of own writes (ownwrites_*_test.go) have their own server, transport and checkers. The
// informer reads informertest over pipes, and the program writes through an OwnWrites. Answers are late,
// lost or broken. In some worlds the informer's client has a timeout, or a proxy answers some lists and
// watches with a text. In others the informer reads a share, and other informers read the rest of the
// ring (ownwrites_shards_test.go). There, objects are recreated in other shares, the server begins or
// stops filtering, and requests with a selector are refused.
//
// A failing world is shrunk to the fewest steps that still fail, and printed as a transcript
// (shrink_test.go). A fixed bug leaves a transcript in testdata. Each checker has a mutant: a wrong
// value, injected between the informer and the checkers, that makes the checker fail (mutants_test.go,
// mutants_complete_test.go). Together, the worlds of make test reach every operation, every fault and
// every event of an informer (reach_test.go).
//
// Some worlds are also played with client-go's informer, through the interface that both implement
// (twin_test.go). Its handlers get the same events, and its store the same objects
// (differential_test.go), except for intended differences (differs_test.go).
//
// To play world 12 again and print it, or a thousand worlds from 12 on:
//
//	make sim SEED=12 V=1
//	make sim SEED=12 SEEDS=1000
//
// # Guarantees
//
//   - Only the driver makes decisions. Before each step it waits until everything is idle, so that
//     the same seed gives the same trace, byte for byte.
//   - Events that depend on the scheduler are checked but not traced: the intermediate events of a
//     handler with Latest delivery or with a resync.
package sim
