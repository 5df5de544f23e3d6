package programs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

var sharded = built("sharded")

// atFirst is the number of ConfigMaps in the demo cluster. more is the number that each act adds.
const atFirst, more = 60, 20

func TestSharded_Program(t *testing.T) {
	sharded.Test(t, badInputOfSharded...)
}

var badInputOfSharded = []program.BadInput{
	{Args: "--kubeconfig KUBECONFIG --shard 3/3", Want: `--shard: .*3/3`},
	{Args: "--kubeconfig KUBECONFIG --shard web", Want: `--shard: .*web`},
	{Args: "--kubeconfig KUBECONFIG --shard 0/0", Want: `--shard: .*0/0`},
	{Args: "--demo --replicas -1", Want: `invalid value "-1" for flag -replicas: .*-h lists the flags`},
	{Args: "--demo --replicas 18446744073709551615", Want: `--replicas must be at most 1000; sharded -h lists the flags`},
	{Args: "--serve 127.0.0.1:0 --demo", Want: `--serve cannot be combined with other flags; sharded -h lists the flags`},
	{Args: "--serve nowhere", Want: `cannot listen on the address of --serve: .*nowhere.*: choose another address`},
}

// The demo starts three replicas, and then four. Each prints the objects that it reads and handles. Together
// they handle everything exactly once.
func TestSharded_Demo(t *testing.T) {
	t.Parallel()
	p := sharded.Start(t, "--demo", "--replicas", "3")
	p.Exits(t, 0)
	out := p.Stdout.String()
	rows := regexp.MustCompile(`(?m)^ *(\d+) replicas +(\d+) +(.*\d) +0 +0$`).FindAllStringSubmatch(out, -1)
	require.Len(t, rows, 2, out)
	for n, row := range rows {
		replicas, objects := 3+n, fmt.Sprint(atFirst+(n+1)*more)
		assert.Equal(t, fmt.Sprint(replicas), row[1])
		assert.Equal(t, objects, row[2])
		each := strings.Fields(row[3])
		require.Len(t, each, replicas)
		sum := 0
		for i, text := range each {
			var handled int
			_, err := fmt.Sscan(text, &handled)
			require.NoError(t, err)
			assert.Positive(t, handled, "replica %d", i)
			sum += handled
			assert.Regexp(t, fmt.Sprintf(`(?m)^sharded-%d: reads by uid: .+$`, i), out)
			assert.Regexp(t, fmt.Sprintf(`(?m)^sharded-%d: handles shop/settings-\d+ at \d+$`, i), out)
		}
		assert.Equal(t, objects, fmt.Sprint(sum))
	}
	// All replicas of the first act have stopped before the second act begins.
	assert.Regexp(t, `(?s)\nstarting 3 replicas\n.*\nall 3 replicas have stopped\n\nstarting 4 replicas\n.*\nall 4 replicas have stopped\n`, out)
	first, _, _ := strings.Cut(out, "starting 4 replicas")
	assert.NotContains(t, first, "sharded-3: ")
}

// An interrupted demo stops its replicas.
func TestSharded_InterruptedDemo(t *testing.T) {
	t.Parallel()
	p := sharded.Start(t) // a demo, because there is no kubeconfig
	p.Notes(t, program.Stamp+`sharded: found no kubeconfig, so this is a demo cluster: an API server in this process, http://127\.0\.0\.1:\d+$`)
	p.Prints(t, `^sharded-2: reads `)
	p.Interrupt()
	p.Exits(t, 0)
}

// The demo cluster is served for replicas that are started by hand. Each prints and follows its share.
func TestSharded_ByHand(t *testing.T) {
	t.Parallel()
	served := sharded.Start(t, "--serve", "127.0.0.1:0")
	served.Notes(t, program.Stamp+`sharded: this is a demo cluster at http://127\.0\.0\.1:\d+; in other terminals, run: .* --shard 0/2, and the same with 1/2$`)
	path := regexp.MustCompile(`--kubeconfig (\S+)`).FindStringSubmatch(served.Stderr.String())[1]
	by := map[string][]int{}
	for i := range 2 {
		replica := sharded.Start(t, "--kubeconfig", path, "--shard", fmt.Sprintf("%d/2", i))
		replica.Prints(t, `^handled all \d+ ConfigMaps of the share; dropped \d+ others$`)
		replica.Interrupt()
		replica.Exits(t, 0)
		assert.Empty(t, replica.Stderr.String())
		for _, handled := range regexp.MustCompile(`(?m)^handles shop/(settings-\d+) at`).FindAllStringSubmatch(replica.Stdout.String(), -1) {
			if known := by[handled[1]]; len(known) == 0 || known[len(known)-1] != i {
				by[handled[1]] = append(known, i)
			}
		}
	}
	for n := range atFirst {
		assert.Len(t, by[newConfigMap(n).Name], 1, n)
	}
	served.Interrupt()
	served.Exits(t, 0)
	assert.NoFileExists(t, path)
}

// In a StatefulSet, the index is the ordinal in the host's name.
func TestSharded_TheOrdinalOfTheHost(t *testing.T) {
	t.Parallel()
	s := informertest.New(informertest.Options{})
	path := program.Kubeconfig(t, s)
	for n := range atFirst {
		require.NoError(t, s.Create(t.Context(), newConfigMap(n)))
	}
	handled := map[string]int{}
	for i := range 3 {
		p := built("sharded", fmt.Sprintf("HOSTNAME=web-config-%d", i)).Start(t, "--kubeconfig", path, "--replicas", "3")
		p.Prints(t, `^handled all \d+ ConfigMaps`)
		p.Interrupt()
		p.Exits(t, 0)
		for _, m := range regexp.MustCompile(`(?m)^handles shop/(settings-\d+) at`).FindAllStringSubmatch(p.Stdout.String(), -1) {
			handled[m[1]]++
		}
	}
	assert.Len(t, handled, atFirst)
	for name, times := range handled {
		assert.Equal(t, 1, times, name)
	}
	p := built("sharded", "HOSTNAME=laptop").Start(t, "--kubeconfig", path, "--replicas", "3")
	p.Exits(t, 1)
	assert.Regexp(t, `^sharded: --replicas without --shard takes the index from the end of \$HOSTNAME, which is "laptop": .*laptop/3`, p.Stderr.String())
}

// The replica whose share has a ConfigMap handles its changes and its deletion.
func TestSharded_Changes(t *testing.T) {
	t.Parallel()
	s := informertest.New(informertest.Options{})
	p := sharded.Start(t, "--kubeconfig", program.Kubeconfig(t, s)) // the share is everything
	p.Prints(t, `^handled all 0 ConfigMaps of the share; dropped 0 others$`)
	c := newConfigMap(7)
	require.NoError(t, s.Create(t.Context(), c))
	p.Prints(t, `^handles shop/settings-007 at `+c.ResourceVersion+`$`)
	c.Data["number"] = "eight"
	require.NoError(t, s.Update(t.Context(), c))
	p.Prints(t, `^handles shop/settings-007 at `+c.ResourceVersion+`$`)
	require.NoError(t, s.Delete(t.Context(), c))
	p.Prints(t, `^is done with shop/settings-007$`)
	p.Interrupt()
	p.Exits(t, 0)
}
