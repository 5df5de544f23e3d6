package object

// MaxText bounds each part of an error text that a server, or whoever named an
// object, may have made megabytes long.
const MaxText = 8192
