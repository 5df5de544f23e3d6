package main

// exceptions are the tests of client-go's that do not pass here, by folder and name, or
// subtest, each with its reason.
var exceptions = map[string]string{}
