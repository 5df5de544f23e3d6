// Package demo is what the examples have in common around their informers: the flags, the cluster
// that they use, and a demo cluster for those who have none.
//
// If you copy an example, leave this package here: a program of your own gets its rest.Config from
// clientcmd, rest.InClusterConfig or controller-runtime, and passes it to the function that the
// example passes to [Flags.Run].
//
// # Guarantees
//
//   - A cluster that is configured is used. The demo cluster is used if --demo asks for it, or if
//     there is neither a kubeconfig nor a service account.
//   - Errors name the flag or the file to check.
//   - The demo cluster has ended when [Flags.Run] returns, and a served page when its end function does.
package demo
