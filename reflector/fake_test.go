package reflector

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// If the source may be a fake, its list is committed once the following watch is open, so that no
// delete in between is lost; or once the watch has failed or taken too long. With a source that
// certainly keeps a history, the commit does not wait.
func TestContract_T8_AFakesListIsCommittedWithItsWatch(t *testing.T) {
	for name, row := range map[string]struct {
		streaming Streaming
		opens     time.Duration
		fails     bool
		commits   time.Duration
		began     string // the request before the commit
	}{
		"it opens":              {StreamingUnsupported, 30 * time.Millisecond, false, 30 * time.Millisecond, "list watch"},
		"it fails":              {StreamingUnsupported, 30 * time.Millisecond, true, 30 * time.Millisecond, "list watch"},
		"it takes its time":     {StreamingUnsupported, time.Second, false, aheadPatience, "list watch"},
		"it hangs":              {StreamingUnsupported, time.Hour, false, aheadPatience, "list watch"},
		"it may be a fake":      {StreamingUnknown, 30 * time.Millisecond, false, 30 * time.Millisecond, "list watch"},
		"a server, which lists": {StreamingSupported, 30 * time.Millisecond, false, 0, "list"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var asked []string
				ask := func(what string) (n int) {
					mu.Lock()
					defer mu.Unlock()
					asked = append(asked, what)
					return len(asked)
				}
				source := streamingAs(funcs{
					list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
						ask("list")
						return list(strings.Fields("5 a@3")), nil
					},
					watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
						if o.SendInitialEvents != nil {
							return nil, failure(ctx, []string{"invalid"})
						}
						n := ask("watch")
						time.Sleep(row.opens)
						if row.fails && n == 2 {
							return nil, failure(ctx, []string{"busy"})
						}
						return tap{events: make(chan watch.Event), stop: func() {}}, nil
					},
				}.source(), row.streaming)
				start, committed, began := time.Now(), time.Duration(-1), ""
				runFor(t, time.Minute, source, &collector{}, Options{Observe: func(e Event) {
					if _, ok := e.(Listed); ok {
						mu.Lock()
						defer mu.Unlock()
						committed, began = time.Since(start), strings.Join(asked, " ")
					}
				}})
				require.Equal(t, row.commits, committed)
				require.Equal(t, row.began, began)
				time.Sleep(time.Hour) // until the hanging calls have ended
				mu.Lock()
				defer mu.Unlock()
				require.LessOrEqual(t, len(asked), 3, "one watch, and another one where it failed")
			})
		})
	}
}
