package controllerruntime

import (
	"net/http"
	"slices"
	"sync"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/tidemark-k8s/tidemark/factory/readiness"
)

// Ready is a healthz.Checker for the manager's readiness:
//
//	err := mgr.AddReadyzCheck("informers", controllerruntime.InformersOf(mgr).Ready)
//
// It fails until all informers that run at its first call have synced. After that it never fails again, so an informer
// that starts later does not take the pod out of service. A standby, whose controllers wait for the leader's lease, is
// ready. The manager's response hides the reason for a failure, so the log has it.
//
// Use [Informers.ReadyExcept] for kinds whose conversion webhook is in the same pod. Otherwise the list waits for the
// webhook, and the webhook's Service waits for the pod to be ready.
func (in *Informers) Ready(r *http.Request) error {
	if in == nil {
		return errForeign
	}
	return in.ready.check(r)
}

// ReadyExcept returns [Informers.Ready] without some kinds, named by objects as in [Shard].
func (in *Informers) ReadyExcept(kinds ...client.Object) healthz.Checker {
	return (&check{informers: in, except: kinds}).check
}

// check is the state of one Ready.
type check struct {
	informers *Informers
	except    []client.Object

	mu      sync.Mutex
	began   bool      // the first call has been
	awaited []running // of the informers of the first call, those that were not synced at the last one
}

// check is a healthz.Checker.
func (c *check) check(r *http.Request) error {
	if c.informers == nil {
		return errForeign
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	if !c.began {
		c.began, c.awaited = true, slices.DeleteFunc(c.informers.live(), c.excepted)
	}
	c.awaited = slices.DeleteFunc(c.awaited, func(r running) bool { return r.informer.HasSynced() || r.informer.IsStopped() })
	err := readiness.New(readiness.Options{}, held(c.awaited)).Check(r)
	if err != nil {
		ctrl.Log.Info("Not ready", "reason", err.Error())
	}
	return err
}

func (c *check) excepted(r running) bool {
	return slices.ContainsFunc(c.except, func(kind client.Object) bool { return sameKind(kind, r.example) })
}
