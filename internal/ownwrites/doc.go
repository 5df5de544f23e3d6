// Package ownwrites reads the requests by which a program writes objects to an API server, and the server's
// answers. It decides what an answer says of the object, and whether a source reads that object.
//
// All of it is pure but for [Made], which remembers what the program has written: no requests are
// sent here, and no store is changed. Paths, bodies and answers are hostile input. What is not
// understood is [Doubt], never a deletion.
package ownwrites
