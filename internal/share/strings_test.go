package share

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

func text(t *Table, s Site, b string) string {
	t.Lock()
	defer t.Unlock()
	return t.String(s, []byte(b))
}

func TestStringIsStoredOnce(t *testing.T) {
	table := New(0)
	first, second := text(table, siteA, "text"), text(table, siteB, "text")
	assert.Same(t, unsafe.StringData(first), unsafe.StringData(second))
	long := strings.Repeat("x", longestString+1)
	assert.Equal(t, long, text(table, siteA, long))
	assert.Equal(t, "", text(table, siteA, ""))
}

func TestStringsStayWithinTheirLimit(t *testing.T) {
	table := New(80_000)
	for i := range 5000 {
		text(table, siteA, fmt.Sprintf("%0200d", i))
	}
	assert.LessOrEqual(t, table.strings.bytes, 10_000)
	assert.Greater(t, table.strings.bytes, 9_000)
}

func TestStringsOf400OwnersAreStoredOnce(t *testing.T) {
	table := New(0)
	stored := map[*byte]bool{}
	for p := range pods {
		for i := range 10 {
			s := text(table, siteA, fmt.Sprintf("owner %d string %d", p%400, i))
			if p > 2000 {
				stored[unsafe.StringData(s)] = true
			}
		}
		text(table, siteB, fmt.Sprintf("pod %d", p))
	}
	assert.Less(t, len(stored), 3*4000, "for 4,000 strings that occur 45 times each")
}

func FuzzStrings(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		table, variety := New(1<<r.IntN(20)), 1+r.IntN(5000)
		for more() {
			s := strings.Repeat(fmt.Sprint(r.IntN(variety)), r.IntN(100))
			require.Equal(t, s, text(table, siteA, s))
			if len(table.strings.slots) < 1<<10 {
				table.strings.verify()
			}
		}
	})
}

// The string value in the interface is shared too, so it takes no memory of its own.
func TestABoxedStringIsStoredOnce(t *testing.T) {
	table, site := New(0), NewSite()
	text := []byte("some text")
	table.Lock()
	defer table.Unlock()
	assert.Equal(t, "some text", table.Boxed(site, text))
	assert.Equal(t, "some text", table.String(site, text))
	assert.Zero(t, testing.AllocsPerRun(100, func() { table.Boxed(site, text) }))
	assert.Equal(t, "", table.Boxed(site, nil))
	assert.Equal(t, "b", (*Table)(nil).Boxed(site, []byte("b")))
}
