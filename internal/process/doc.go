// Package process starts this program again as a child process, exchanges JSON with it over pipes, and
// measures processes. Programs that compare libraries use it: they measure the memory and CPU time of a
// library as those of a whole process.
//
// # Guarantees
//
//   - When End returns, the started process has ended. It is killed by its process ID, never by its
//     name.
//   - Inside the started process, Serve cancels the work and returns when the parent closes the
//     pipe or ends for any reason.
package process
