package informer_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// The log lines about a handler go to the handler's own logger.
func TestTheLoggerOfAHandler(t *testing.T) {
	handlers := utilruntime.PanicHandlers
	kit.SurvivePanics(t)
	utilruntime.PanicHandlers = handlers // the default handlers, which log
	elsewhere, mine := kit.CaptureLog(t), &kit.Log{}
	logger := mine.Logger()
	synctest.Test(t, func(t *testing.T) {
		i := newShared(kit.ListerWatcher{Source: rig.NewScript("10", kit.Pod("a", "1"))}, &corev1.Pod{}, 0, nil)
		period := time.Second
		_, err := i.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("of the handler") }},
			cache.HandlerOptions{Logger: &logger, ResyncPeriod: &period})
		require.NoError(t, err)
		require.Equal(t, 1, mine.Count("No resyncs"), "T12")
		startClientgo(t, i)
		require.Equal(t, 1, mine.Count("of the handler"), "%q", mine.Lines())
		require.Zero(t, elsewhere.Count("of the handler"))
	})
}

// The line of a panic has the informer, the handler and the object.
func TestAPanicNamesItsHandlerAndObject(t *testing.T) {
	handlers := utilruntime.PanicHandlers
	kit.SurvivePanics(t)
	utilruntime.PanicHandlers = handlers // the default handlers, which log
	funcs := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("of the handler") }}
	named := informer.HandlerOptions{Name: "clumsy"}
	typed := func(add func(i *informer.Informer[*corev1.Pod]) error) func(t *testing.T, from kit.Source) {
		return func(t *testing.T, from kit.Source) {
			i := informer.New(rig.SourceOf(from), informer.Options[*corev1.Pod]{Name: "pods"})
			require.NoError(t, add(i))
			rig.Start(t, i)
		}
	}
	for name, run := range map[string]func(t *testing.T, from kit.Source){
		"Handle": typed(func(i *informer.Informer[*corev1.Pod]) error {
			_, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { panic("of the handler") }), named)
			return err
		}),
		"HandleKeys": typed(func(i *informer.Informer[*corev1.Pod]) error {
			_, err := i.HandleKeys(func(indexer.Key) { panic("of the handler") }, named)
			return err
		}),
		"HandleBatch": typed(func(i *informer.Informer[*corev1.Pod]) error {
			_, err := i.HandleBatch(func(b informer.Batch[*corev1.Pod]) {
				for range b.All() {
					panic("of the handler")
				}
			}, 10, named)
			return err
		}),
		"AddEventHandler": func(t *testing.T, from kit.Source) {
			i := newShared(kit.ListerWatcher{Source: from}, &corev1.Pod{}, 0, nil)
			_, err := i.AddEventHandler(funcs)
			require.NoError(t, err)
			startClientgo(t, i)
		},
		"NewInformer": func(t *testing.T, from kit.Source) {
			utilruntime.ReallyCrash = true
			defer func() { utilruntime.ReallyCrash = false }()
			_, c := newOneHandler(kit.ListerWatcher{Source: from}, &corev1.Pod{}, 0, funcs)
			require.PanicsWithValue(t, "of the handler", func() { c.RunWithContext(t.Context()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := kit.CaptureLog(t)
			synctest.Test(t, func(t *testing.T) {
				run(t, rig.NewScript("10", kit.Pod("a", "1")))
				lines := slices.DeleteFunc(log.Lines(), func(line string) bool { return !strings.Contains(line, "A handler has panicked") })
				require.Len(t, lines, 1)
				require.Contains(t, lines[0], "default/a")
				require.Regexp(t, "clumsy|TestAPanicNamesItsHandlerAndObject", lines[0])
				require.Contains(t, lines[0], "informer")
				require.Equal(t, 1, log.Count("Observed a panic"))
			})
		})
	}
}

// A handler of batches that has not begun to read fails on no object in particular.
func TestAPanicAfterTheBatch(t *testing.T) {
	handlers := utilruntime.PanicHandlers
	kit.SurvivePanics(t)
	utilruntime.PanicHandlers = handlers // the default handlers, which log
	log := kit.CaptureLog(t)
	synctest.Test(t, func(t *testing.T) {
		i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"))), informer.Options[*corev1.Pod]{})
		_, err := i.HandleBatch(func(informer.Batch[*corev1.Pod]) { panic("of the handler") }, 10, informer.HandlerOptions{Name: "clumsy"})
		require.NoError(t, err)
		rig.Start(t, i)
		require.Equal(t, 1, log.Count("of the handler"))
		require.Zero(t, log.Count("default/a"))
	})
}

func TestTheLoggerOfAnInformer(t *testing.T) {
	elsewhere, mine := kit.CaptureLog(t), &kit.Log{}
	logger := mine.Logger()
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10")
		s.Fail(rig.ErrPoison)
		_, c := informer.ForOneHandler(cache.InformerOptions{
			Logger: &logger, ListerWatcher: kit.ListerWatcher{Source: s}, Handler: (&kit.Recorder{}).Handler(),
		})
		runsController(t, c)
		require.Positive(t, mine.Count(rig.ErrPoison.Error()))
		require.Zero(t, elsewhere.Count(rig.ErrPoison.Error()))
	})
}

// Panics and errors are logged by the logger of Run's context, and handlers added to utilruntime
// get the context with its values. The line of a panic names the file in which it happened.
func TestTheContextOfRunGoesWithWhatIsReported(t *testing.T) {
	type value struct{}
	panics, errs := utilruntime.PanicHandlers, utilruntime.ErrorHandlers
	kit.SurvivePanics(t)
	seen := make(chan any, 10)
	utilruntime.PanicHandlers = append(slices.Clip(panics), func(ctx context.Context, _ any) { seen <- ctx.Value(value{}) })
	utilruntime.ErrorHandlers = append(slices.Clip(errs), func(ctx context.Context, _ error, _ string, _ ...any) { seen <- ctx.Value(value{}) }) //nolint:reassign // it is there to be set
	t.Cleanup(func() { utilruntime.ErrorHandlers = errs })                                                                                       //nolint:reassign // as above
	elsewhere, mine := kit.CaptureLog(t), &kit.Log{}
	ctx, cancel := context.WithCancel(context.WithValue(klog.NewContext(t.Context(), mine.Logger()), value{}, "of the context"))
	defer cancel()

	s := rig.NewScript("10", kit.Pod("a", "1"))
	i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{})
	_, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { panic("of the handler") }), informer.HandlerOptions{})
	require.NoError(t, err)
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	require.Equal(t, "of the context", <-seen)
	s.Fail(rig.ErrPoison)
	rig.Eventually(t, func() bool { return s.Feed() != nil }, "the watch is open")
	s.Expire()
	require.Equal(t, "of the context", <-seen)
	cancel()
	require.NoError(t, wait())
	require.Equal(t, 1, mine.Count("of the handler"), "%q", mine.Lines())
	require.Equal(t, 1, mine.Count("clientgo_log_test.go"), "the panic's own line: %q", mine.Lines())
	require.Positive(t, mine.Count(rig.ErrPoison.Error()))
	require.Zero(t, elsewhere.Count("of the handler")+elsewhere.Count(rig.ErrPoison.Error()))
}
