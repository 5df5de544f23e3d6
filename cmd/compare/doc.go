// Compare runs client-go's informers and tidemark's for the kinds of your cluster, in separate processes, and
// prints the CPU time and memory that each library needs:
//
//	go run github.com/tidemark-k8s/tidemark/cmd/compare@latest
//	go run github.com/tidemark-k8s/tidemark/cmd/compare@latest --kinds pods,crontabs.stable.example.com --namespace shop
//	go run github.com/tidemark-k8s/tidemark/cmd/compare@latest --demo
//
// Before the first release, it runs only in a clone: go run -C cmd/compare . --demo
//
// # What it does
//
// Compare counts the objects of each kind, prints how many lists it will send, and asks for confirmation. Then
// it syncs client-go's informers, tidemark's, tidemark's again and client-go's again, each time in a new process.
// The last two processes continue, and watch the same changes for a minute. Compare only lists and watches. It
// leaves out kinds that it may not list and watch, and kinds whose versions are not numbers, and prints their
// names. A sync fails if no byte arrives for a minute.
//
// With --demo, compare needs no cluster. A third process serves made-up objects on 127.0.0.1, and changes 100 of
// them a second while both libraries watch.
//
// # What is compared
//
// Each library is used as in most programs. Typed factories read built-in kinds, in protobuf. Metadata informers
// read secrets, because few programs read the data of all secrets. Dynamic informers read all other kinds.
// Tidemark's clients for the last two have reflector.Wire, as docs/migrating.md recommends. Each informer has the
// namespace index of a factory's informers, and one handler that counts objects and events.
//
//   - heap: after the sync and a garbage collection
//   - peak RSS: the largest memory that the kernel has given the process by then
//   - CPU of the sync: of all threads, from getrusage
//   - CPU of the events: the same, during the minute
//
// The first three are the means of both syncs. Both libraries must end with the same objects, and must see the same
// events: the changes between the server's versions at the beginning and the end of the minute. If they differ,
// compare prints the difference.
//
// # Exit codes
//
//	0  measured; both libraries saw the same
//	1  an error, an interruption, or "no" to the question
//	2  invalid flags, or no terminal for the question and no --yes
//	3  measured, but the libraries did not see the same
//
// With go run, the exit code is 1 instead of 2 or 3.
package main
