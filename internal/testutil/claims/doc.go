// Package claims plays scripts of HTTP requests against an API server and
// checks the answers. The scripts in informer/informertest/testdata/claims say
// what informertest is faithful to; they are played against it and against a
// real kube-apiserver alike.
//
// A script is made of steps. What follows # is for the reader.
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
// A step is a method and a path, header lines, a JSON body, and behind = the
// code of the answer. The indented lines are about the answer, which is JSON:
//
//	.a.b "x"      it is that JSON value; .a.0 is the first of a, .a["b.c"] a key with a dot
//	.a exists     or absent
//	.a has "x"    it is a string with x in it
//	.a len 2      it has so many elements
//	.a > "5"      it is a larger number, which may be a string; >= or that one
//	.a => name    {name} stands for it from here on
//
// A watch has a name. Its events are steps, each waited for; bookmarks come
// when they like, and are passed over where another event is expected.
//
//	WATCH w /api/v1/namespaces/{ns}/configmaps?resourceVersion={first}
//	= 200
//
//	w ADDED
//	  .metadata.name "b"
//
//	w END
//
// At the end of a watch there are no more events; CLOSE w ends it from here.
// COMPACT asks whoever plays the script to make the server forget its history;
// where that is not possible, the rest of the script is left out. {ns} is a
// namespace of the script's own.
package claims
