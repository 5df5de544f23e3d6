// Package dropin compares the exported API of this repository: with client-go's, name by
// name, and with that of yesterday. It is a module of its own, so that the tools that it
// needs reach nobody else.
package dropin
