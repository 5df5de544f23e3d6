// Package dropin tests the exported API of this repository. It compares the API with client-go's, name
// by name, and with the API of the last release. It is a separate module, so that users do not depend on
// its tools.
package dropin
