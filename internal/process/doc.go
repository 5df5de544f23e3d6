// Package process starts this program again in a process of its own, talks to it in JSON over pipes, and
// measures processes. Programs that compare libraries use it: each library's memory and processor time
// are those of a whole process.
//
// # Guarantees
//
//   - A started process has ended when End returns. It is ended by its own id, never by a name.
//   - Inside the started process, Serve cancels the work and returns when the parent has closed the pipe
//     or has ended, however that happened.
package process
