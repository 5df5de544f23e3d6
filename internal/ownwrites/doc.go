// Package ownwrites reads the requests and answers by which a program writes objects to an API server,
// and says what they mean for the sources that read the same objects.
//
// All of it is pure but for [Proofs], which remembers what the program has written: no requests are
// sent here, and no store is changed. Paths, bodies and answers are hostile input. What is not
// understood is [Doubt], never a deletion.
package ownwrites
