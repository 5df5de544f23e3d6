package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAKindThatDoesNotPayIsTriedAgain(t *testing.T) {
	var k trial
	tries := func(n int, paid bool) {
		t.Helper()
		for i := range n {
			if !assert.True(t, k.packs(), "object %d", i) {
				return
			}
			k.note(paid)
		}
	}
	rests := func(n int) {
		t.Helper()
		for i := range n {
			if !assert.False(t, k.packs(), "object %d", i) {
				return
			}
		}
	}
	tries(255, false)
	tries(1, true)
	tries(256, false) // in a row
	rests(1024)
	tries(64, false)
	rests(1024)
	tries(63, false)
	tries(1, true)
	tries(256, false)
	rests(1024)
	tries(1000, true)
}
