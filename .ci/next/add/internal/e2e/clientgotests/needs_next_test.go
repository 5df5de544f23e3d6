package main

import _ "github.com/onsi/gomega" // as needs_test.go does
