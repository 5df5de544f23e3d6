package cluster

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// chance generates the random values in which objects differ.
type chance struct{ *rand.Rand }

// newChance returns the chance for the i-th object of a sort.
func newChance(seed uint64, sort string, i int) chance {
	h := fnv.New64a()
	_, _ = h.Write([]byte(sort)) // never fails
	return chance{rand.New(rand.NewPCG(seed^h.Sum64(), uint64(i)))}
}

const (
	hexDigits = "0123456789abcdef"
	// safe are the characters of random names in Kubernetes.
	safe    = "bcdfghjklmnpqrstvwxz2456789"
	letters = "abcdefghijklmnopqrstuvwxyz"
)

func (c chance) text(of string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = of[c.IntN(len(of))]
	}
	return string(b)
}

func (c chance) hex(n int) string { return c.text(hexDigits, n) }

func (c chance) uid() types.UID {
	return types.UID(fmt.Sprintf("%s-%s-4%s-a%s-%s", c.hex(8), c.hex(4), c.hex(3), c.hex(3), c.hex(12)))
}

// between returns a number from a to b, inclusive.
func (c chance) between(a, b int) int { return a + c.IntN(b-a+1) }

// few returns a number from a to b. Small numbers are more frequent.
func (c chance) few(a, b int) int { return a + int(float64(b-a+1)*math.Pow(c.Float64(), 7)) }

// skewed returns a number below n. Low numbers are more frequent.
func (c chance) skewed(n int) int { return int(float64(n) * math.Pow(c.Float64(), 1.5)) }

// oneIn returns true once in n times.
func (c chance) oneIn(n int) bool { return c.IntN(n) == 0 }

func pick[T any](c chance, from []T) T { return from[c.IntN(len(from))] }

// some returns n different elements of a list, or all elements, in the order of the list.
func some(c chance, n int, from []string) []string {
	var chosen []string
	for i, s := range from {
		if c.IntN(len(from)-i) < n-len(chosen) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// epoch is the first day of the cluster.
var epoch = time.Date(2025, time.March, 3, 8, 0, 0, 0, time.UTC)

// day returns a time on the n-th day of the cluster.
func (c chance) day(n int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(n*86_400+c.IntN(86_400)) * time.Second))
}

func after(t metav1.Time, seconds int) metav1.Time {
	return metav1.NewTime(t.Add(time.Duration(seconds) * time.Second))
}

// suffix returns the end of the name of the i-th object. It is different for each i.
func suffix(i int) string {
	const all = 27 * 27 * 27 * 27 * 27
	n := i * 9_700_417 % all // the factor and all are coprime
	b := make([]byte, 5)
	for k := range b {
		b[k] = safe[n%len(safe)]
		n /= len(safe)
	}
	return string(b)
}
