package object

// MaxText limits the length of each part of an error text that comes from a server or an object. Such a
// part could be megabytes long.
const MaxText = 8192
