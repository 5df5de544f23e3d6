// Package demo has the parts of the examples that are not about informers: the flags, the choice of a cluster,
// and a demo cluster for users without one.
//
// Do not copy this package with an example. Your own program gets its rest.Config from clientcmd,
// rest.InClusterConfig or controller-runtime, and passes it to the function that the example passes to
// [Flags.Run].
//
// # Guarantees
//
//   - A configured cluster is used. The demo cluster is used only with --demo, or if there is neither a
//     kubeconfig nor a service account.
//   - Errors name the flag or the file to check.
//   - When [Flags.Run] returns, the demo cluster has stopped. When the end function of [Serve] returns, the page
//     is no longer served.
package demo
