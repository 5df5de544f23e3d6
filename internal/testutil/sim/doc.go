// Package sim runs an informer through simulated worlds: a server that breaks
// in every way that servers break, handlers that come, go, lag and panic, and
// checkers that never sleep. It holds tests only.
//
// One seed makes one world of each sort: a setup and a list of steps, drawn before anything
// runs (plan_test.go). The driver plays the steps in a synctest bubble, where
// time is virtual (world_test.go). Between the server, which is informertest's,
// and the informer stands a source that injects faults (source_test.go,
// stream_test.go). Behind the informer stand actors, the handlers
// (actor_test.go). What was ever true is kept by the truth (truth_test.go), and
// the checkers hold everything against it (check_test.go).
//
// There are more who act than the server and the handlers. Objects move between the
// sources of an informer (moves_test.go). A user writes into the store by hand
// (byhand_test.go). Somebody asks how the informer is doing (observer_test.go), and
// somebody waits until all was delivered, while handlers join and leave under load
// (load_test.go). Handlers, transforms and index functions end their goroutines. What
// worlds cannot show, what is garbage and what is a race, is in stress_test.go.
//
// In some worlds the resource itself is taken away and comes back, and requests are denied
// that would be served, with 404 or 401 (resource_test.go). In others the informers are factories', and live while
// somebody has a lease on them (tenants_test.go) or has asked for them to stay, and are stopped and restarted one by one
// (pins_test.go).
//
// A world that fails is shrunk, step by step, to the fewest that still fail, and
// printed as a transcript (shrink_test.go); a fixed bug leaves its transcript in
// testdata. For each checker there is a sabotage, a lie told between the informer
// and the checkers, that makes it fail (sabotage_test.go, lies_test.go). The worlds
// of make test reach every deed, every fault and every fact that an informer
// observes (reach_test.go).
//
// Some worlds are played to client-go's informer as well, behind the interface
// that both have (twin_test.go): it is told and stores the same
// (differential_test.go), but for what is otherwise on purpose (differs_test.go).
//
// To play world 12 again and read all of it, or a thousand from 12 on:
//
//	make sim SEED=12 V=1
//	make sim SEED=12 SEEDS=1000
//
// # Guarantees
//
//   - The driver alone decides. It waits until all else is at rest before each
//     step, so that the same seed gives the same trace, to the byte.
//   - What the scheduler may decide is checked but not traced: what a handler
//     with Latest delivery, or with a resync, is told on its way.
package sim
