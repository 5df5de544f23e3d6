// Migrate changes a program from client-go's informers to tidemark's.
//
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@main ./...
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@main -diff ./...
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@main -check ./...
//
// It rewrites imports and calls, adds tidemark to go.mod, and runs go mod tidy. It prints its
// changes, the new versions of Go and of Kubernetes' modules, and the work left for a person, with
// file, line and reason. It can be run again, for instance after a code generator: code that is
// already changed stays as it is.
//
// It writes files after everything else has succeeded. It changes nothing, and says what to do, in
// a workspace, with a vendor folder, if go.mod ignores folders, and if it replaces client-go,
// k8s.io/api or k8s.io/apimachinery.
//
// With -diff it shows the changes of Go files without making them. With -check it changes nothing,
// lists the uses of client-go's informers in the program and its dependencies, and exits with 1 if
// the program itself, without its tests, has any.
//
// It parses files without compiling them. So it changes files of all build tags, and programs that
// do not compile. It finds packages whose files all have other build tags only below a folder, as
// in ./... and ./test/..., and by no other pattern. The exit code is 2 after an error, and of -check
// also if a file cannot be read.
package main
