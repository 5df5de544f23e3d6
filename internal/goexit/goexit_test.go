package goexit

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApart(t *testing.T) {
	called := 0
	require.True(t, Apart(func() { called++ }))
	require.False(t, Apart(func() { called++; runtime.Goexit() }))
	require.Equal(t, 2, called)
}

// Work with steps that end the goroutine is still completed.
func TestWorkOutlivesItsGoroutine(t *testing.T) {
	const steps = 1000
	for name, ends := range map[string]func(step int) bool{
		"never": func(int) bool { return false },
		"once":  func(step int) bool { return step == 1 },
		"often": func(step int) bool { return step%3 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			var done []int
			work := func() {
				for len(done) < steps {
					done = append(done, len(done))
					if ends(len(done)) {
						runtime.Goexit()
					}
				}
			}
			wentOn := false
			Apart(func() {
				Outlive(work)
				wentOn = true
			})
			require.Len(t, done, steps)
			require.Equal(t, name == "never", wentOn, "the goroutine ends where it was ended, and not before")
		})
	}
}

func TestAPanicIsNotOutlived(t *testing.T) {
	called := 0
	require.PanicsWithValue(t, "on purpose", func() {
		Outlive(func() {
			called++
			panic("on purpose")
		})
	})
	require.Equal(t, 1, called)
}
