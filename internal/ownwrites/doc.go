// Package ownwrites reads the requests with which a program writes objects to an API server, and the
// server's answers. It decides what an answer says about the object, and whether a source includes the
// object.
//
// All functions are pure. Only [Made] has state: it remembers the program's writes. The package sends no
// requests and changes no store. It treats paths, bodies and answers as hostile input. If it does not
// understand something, the result is [Doubt], never a deletion.
package ownwrites
