// Package claims plays scripts of HTTP requests against an API server and checks the answers. The
// scripts in informer/informertest/testdata/claims describe the behavior that informertest has in common
// with kube-apiserver. They are played against both.
//
// A script consists of steps. Text after # is a comment.
//
//	# A name is taken once.
//	POST /api/v1/namespaces/{ns}/configmaps
//	{"metadata": {"name": "a"}}
//	= 201
//	  .metadata.name "a"
//	  .metadata.resourceVersion => first
//
//	GET /api/v1/namespaces/{ns}/configmaps/a
//	Accept: application/json
//	= 200
//	  .metadata.resourceVersion "{first}"
//
// A step has a method and a path, header lines, a JSON body, and after = the expected status code. The
// indented lines check the answer, which must be JSON:
//
//	.a.b "x"      the value is this JSON; .a.0 is the first element of a, .a["b.c"] a key with a dot
//	.a exists     or absent
//	.a has "x"    the value is a string that contains x
//	.a len 2      the value has 2 elements, or is a string of 2 bytes
//	.a > "5"      the value is a larger number, or a string of a larger number; or >=
//	.a => name    {name} stands for the value from here on
//	.a hash=> h   {h} stands for the hash by which the value is sharded, and {hNext} for the next one
//
// A watch has a name. Each expected event is a step, which waits for the event. Bookmarks may arrive at
// any time, and are skipped if another event is expected.
//
//	WATCH w /api/v1/namespaces/{ns}/configmaps?resourceVersion={first}
//	= 200
//
//	w ADDED
//	  .metadata.name "b"
//
//	w END
//
// A custom kind is registered by the name of its resource, and removed together with its objects. It has
// a status and a scale. Its group is {ns}.example.com, and its version is v1.
//
//	REGISTER things Namespaced
//
//	POST /apis/{ns}.example.com/v1/namespaces/{ns}/things
//	{"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
//	= 201
//
//	UNREGISTER things
//
// END means that the server ends the watch. CLOSE w closes it on the client's side. COMPACT makes the
// server forget its history. If the server cannot do this, the rest of the script is skipped. {ns} is a
// namespace that is created for the script.
package claims
