package main

import "errors"

var (
	errNoFiles    = errors.New("the patterns match no Go files")
	errUnread     = errors.New("some files cannot be read")
	errUnchanged  = errors.New("nothing was changed")
	errWorkspace  = errors.New("a workspace chooses the versions for all its modules: set GOWORK=off, run migrate in the folder of each module, and then run go work use")
	errVendor     = errors.New("the vendor folder would be out of date: remove it, run migrate, and vendor again")
	errIgnore     = errors.New("it ignores folders that migrate would change: list the packages instead, as in migrate $(go list ./...)")
	errReplaced   = errors.New("it is replaced, but tidemark requires a certain version: remove the replacement")
	errDropped    = errors.New("go mod tidy removes it again, because it reads no files with the build tag ignore: give the files that need it another tag, such as tools")
	errFormat     = errors.New("the change would not parse: run gofmt first")
	errStillThere = errors.New("the program still runs client-go's informers")
)
