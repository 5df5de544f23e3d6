package reflector

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
)

// Nothing of a list that cannot be read to its end gets into the next one.
func TestAListWithAnItemThatIsNoObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &hostile{list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
			if n > 0 {
				return list([]string{"6", "b@6"}), nil
			}
			a := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "resourceVersion": "3"}}
			return &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "PodList", "metadata": map[string]any{"resourceVersion": "5"}, "items": []any{a, nil},
			}}, nil
		}}
		sink, recorded := &exitingSink{}, &observed{}
		runFor(t, time.Minute, src.source(), sink, Options{Observe: recorded.observe})
		require.Equal(t, []string{"begin", "abort", "begin", "added b", "commit"}, sink.lines)
		require.Equal(t, 1, recorded.failures)
	})
}

// pointers is a list of pointers, as some generators make it.
type pointers struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []*metav1.PartialObjectMetadata
}

func (l *pointers) DeepCopyObject() kruntime.Object { return l }

// An item that is null is reported and left out.
func TestAListWithAnItemThatIsNull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "3"}}
		src := &hostile{list: func(int, metav1.ListOptions) (kruntime.Object, error) {
			return &pointers{ListMeta: metav1.ListMeta{ResourceVersion: "5"}, Items: []*metav1.PartialObjectMetadata{nil, a}}, nil
		}}
		sink, recorded := &exitingSink{}, &observed{}
		runFor(t, time.Minute, src.source(), sink, Options{Observe: recorded.observe})
		require.Equal(t, []string{"begin", "added a", "commit"}, sink.lines)
		require.Equal(t, 1, recorded.skipped)
	})
}

// A list that is never answered is given up and reported after listPatience.
func TestAListThatIsNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests, recorded := 0, &observed{}
		src := funcs{list: func(ctx context.Context, _ metav1.ListOptions) (kruntime.Object, error) {
			requests++
			<-ctx.Done()
			return nil, fmt.Errorf("client: %w", ctx.Err())
		}}.source()
		runFor(t, time.Hour, src, ignorer{}, Options{Observe: recorded.observe})
		require.Equal(t, 6, requests)
		require.ErrorIs(t, recorded, ErrSilent)
	})
}

// The error of a list whose call does not return says once that the server fell silent.
func TestAListThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over, recorded := make(chan struct{}), &observed{}
		defer close(over)
		src := funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			<-over
			return nil, errAny
		}}.source()
		runFor(t, listPatience+time.Second, src, ignorer{}, Options{Name: "pods", Observe: recorded.observe, Rand: func() float64 { return 0 }})
		require.Len(t, recorded.errs, 1)
		require.EqualError(t, recorded.errs[0], "list pods: "+ErrSilent.Error())
	})
}

// Later pages cannot change the version of a list: the first page's version counts.
func TestPagesThatLie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &hostile{list: func(_ int, o metav1.ListOptions) (kruntime.Object, error) {
			if o.Continue == "" {
				return list(strings.Fields("5 more=x remaining=-7 a@1")), nil
			}
			return list(strings.Fields("99 remaining=1000000 b@2")), nil
		}}
		sink := &collector{}
		runFor(t, time.Minute, src.source(), sink, Options{})
		require.Equal(t, 2, src.lists)
		require.Equal(t, "5", sink.version)
		require.Equal(t, []int{1, 1}, sink.sizes())
	})
}

func TestAListEnds(t *testing.T) {
	t.Run("objects", func(t *testing.T) {
		p := pager{}
		require.NoError(t, p.follow(maxObjects, ""))
		require.ErrorIs(t, p.follow(1, ""), ErrEndless)
	})
	t.Run("empty pages", func(t *testing.T) {
		p := pager{}
		for i := range maxEmptyPages {
			require.NoError(t, p.follow(0, fmt.Sprint(i)))
		}
		require.ErrorIs(t, p.follow(0, "x"), ErrEndless)
	})
	t.Run("an object now and then", func(t *testing.T) {
		p := pager{}
		for i := range 3 * maxEmptyPages {
			items := 0
			if i%maxEmptyPages == 0 {
				items = 1
			}
			require.NoError(t, p.follow(items, fmt.Sprint(i)))
		}
	})
	for start := range 20 {
		for size := 1; size < 20; size++ {
			p, n := pager{}, 0
			for ; ; n++ {
				token := n
				if n >= start {
					token = start + (n-start)%size
				}
				if p.follow(1, fmt.Sprint(token)) != nil {
					break
				}
			}
			require.GreaterOrEqual(t, n, start+size, "a token that had not come before, in a circle of %d from %d", size, start)
			require.LessOrEqual(t, n, 3*(start+size)+1, "a circle of %d from %d", size, start)
		}
	}
}
