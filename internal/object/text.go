package object

// MaxText bounds each part of an error text that comes from a server or an object: it could be
// megabytes long.
const MaxText = 8192
