// Migrate changes a program from client-go's informers to tidemark's:
//
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@main ./...
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@main -diff ./...
//	go run github.com/tidemark-k8s/tidemark/cmd/migrate@main -check ./...
//
// It rewrites imports and calls, adds tidemark to go.mod, and runs go mod tidy. It prints its changes, the new
// versions of Go and of Kubernetes' modules, and the work that is left for you, with file, line and reason. Run it
// again whenever you like, for instance after a code generator: it does not touch code that it has changed before.
//
// It writes files only after everything else has succeeded. It changes nothing, and prints what to do, in a
// workspace, with a vendor folder, if go.mod ignores folders, and if go.mod replaces client-go, k8s.io/api or
// k8s.io/apimachinery.
//
// With -diff, it only shows the changes of Go files. With -check, it lists the uses of client-go's informers in the
// program and its dependencies. It exits with 1 if the program itself, without its tests, has any. The packages
// of the main module that the program imports belong to it, even if the patterns do not match them.
//
// Migrate parses files, but does not compile them. So it changes files with any build tags, and programs that do
// not compile. Patterns such as ./... and ./test/... also match packages whose files all have other build tags.
// Other patterns, such as example.com/program/..., do not. If the patterns are files, list all files of a package:
// a new import may otherwise have a name that another file declares. The exit code is 2 after an error. With
// -check, a file that cannot be read is an error, too.
package main
