// Compare runs client-go's informers and tidemark's on the kinds of your cluster, in separate
// processes, and prints what each needs.
//
//	go run github.com/tidemark-k8s/tidemark/cmd/compare@latest
//	go run github.com/tidemark-k8s/tidemark/cmd/compare@latest --kinds pods,crontabs.stable.example.com --namespace shop
//	go run github.com/tidemark-k8s/tidemark/cmd/compare@latest --demo
//
// Before the first release, it runs only in a clone: go run -C cmd/compare . --demo
//
// # What it does
//
// It counts the objects of each kind, says how many lists it will send, and asks for confirmation.
// Then it syncs client-go's informers, tidemark's, tidemark's again and client-go's again, each
// time in a new process. The last two processes continue, and watch the same changes for a minute.
// It only lists and watches. It leaves out, and names, kinds that it may not list and watch, and
// kinds whose versions are not numbers. A sync fails if no byte arrives for a minute.
//
// With --demo it needs no cluster: a third process serves made-up objects on 127.0.0.1, and changes 100 of
// them a second while both libraries watch.
//
// # What is compared
//
// Both sides are programs as their users write them: typed factories for built-in kinds, which read protobuf;
// dynamic informers for all others; metadata informers for secrets, since few programs read the data of all secrets. Tidemark's clients of
// the last two have reflector.Wire, the line that docs/migrating.md recommends. Each informer has the namespace
// index of a factory's informers, and one handler that counts objects and events.
//
//   - heap: after the sync and a garbage collection; the mean of both syncs, as are the next two.
//   - peak RSS: the most memory that the kernel gave the process until then.
//   - CPU of the sync: all threads, by getrusage.
//   - CPU of the events: the same, during the minute.
//
// Both sides must end with the same objects and must have seen the same events: the changes between
// the server's versions at the beginning and the end of the minute. If they differ, compare says
// so.
//
// # Exit codes
//
//	0  measured; both sides saw the same
//	1  an error, an interruption, or "no" to the question
//	2  flags that cannot be used, or a question that cannot be asked: there is no terminal, and no --yes
//	3  measured, but the two sides did not see the same
//
// Run by go run, the exit code is 1 instead of 2 and 3.
package main
