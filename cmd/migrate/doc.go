// Migrate changes a program from client-go's informers to tidemark's.
//
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@latest ./...
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@latest -diff ./...
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@latest -check ./...
//
// It rewrites imports and calls, adds tidemark to go.mod, tidies, and renews vendor
// folders. It says what it has changed, which versions of Go and of Kubernetes' modules
// that brings, and what is left for a person, with file, line and why. What is changed
// already it leaves alone: it may be run again, for instance after a code generator.
//
// With -diff it only shows what it would change. With -check it changes nothing, names
// what still runs client-go's informers, in the program and in what that depends on, and
// exits with 1 if any of it is in the program itself, tests aside.
//
// It reads files as they are written, so that those of all build tags are changed, and
// programs that do not compile. The exit code is 2 after an error.
package main
