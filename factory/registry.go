package factory

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// registry holds the informers of a factory by type or resource, and their
// common life.
type registry[K comparable] struct {
	mu      sync.Mutex
	members map[K]*member
	ctx     context.Context // of the last Start; nil before
	down    bool            // Shutdown was called
	running sync.WaitGroup
}

// get returns the member of a key, made if there is none. The caller holds mu.
func (r *registry[K]) get(key K, made func() *member) *member {
	m, ok := r.members[key]
	if !ok {
		m = made()
		r.add(key, m)
	}
	return m
}

// add enters a member. The caller holds mu.
func (r *registry[K]) add(key K, m *member) {
	if r.members == nil {
		r.members = make(map[K]*member)
	}
	r.members[key] = m
}

// lives tells whether informers can be started. The caller holds mu.
func (r *registry[K]) lives() bool {
	return !r.down && r.ctx != nil && r.ctx.Err() == nil
}

// start runs the members that do not run yet. The caller holds mu.
func (r *registry[K]) start(ctx context.Context) {
	if r.down {
		klog.FromContext(ctx).Error(ErrShutdown, "The factory starts nothing")
		return
	}
	r.ctx = ctx
	for _, m := range r.members {
		if !m.started {
			r.launch(ctx, m)
		}
	}
}

// launch starts a member. It returns false, and says so to the log, where
// that cannot run or is run by its user. The caller holds mu.
func (r *registry[K]) launch(ctx context.Context, m *member) bool {
	m.started = true
	wait, err := m.start(ctx)
	if err != nil {
		klog.FromContext(ctx).Error(err, "The factory does not run the informer")
		return false
	}
	r.running.Go(wait)
	return true
}

// shutdown waits for all members to end.
func (r *registry[K]) shutdown() {
	r.mu.Lock()
	r.down = true
	r.mu.Unlock()
	r.running.Wait()
}

// wait waits until the started members are synced, or ctx ends, and tells
// which are.
func (r *registry[K]) wait(ctx context.Context) (synced map[K]bool, err error) {
	members := make(map[K]*member)
	r.mu.Lock()
	for key, m := range r.members {
		if m.started {
			members[key] = m
		}
	}
	r.mu.Unlock()

	synced = make(map[K]bool, len(members))
	for key, m := range members {
		cache.WaitFor(ctx, "", m.shared.HasSyncedChecker())
		if synced[key] = m.shared.HasSynced(); !synced[key] {
			err = context.Cause(ctx)
		}
	}
	return synced, err
}
