package cache

// Pop waits for a key, removes it, and calls process with its deltas, a [Deltas]. The queue is locked during
// the call. Pop returns the deltas and the error of process. Once the queue is closed and empty, it returns
// [ErrFIFOClosed].
func (f *DeltaFIFO) Pop(process PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.await(); err != nil {
		return nil, err
	}
	return f.processOne(process)
}

// maxBatch is the largest number of keys popped at once. It is limited because the queue is locked while they
// are processed.
const maxBatch = 1000

// PopBatch is [DeltaFIFO.Pop] for several keys at once. Up to 1,000 consecutive keys with one delta each go
// to batch together. A batch has only keys of the initial population, or only later ones. Any other key goes
// to single.
func (f *DeltaFIFO) PopBatch(batch ProcessBatchFunc, single PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.await(); err != nil {
		return err
	}
	n := f.batchable()
	if n < 2 {
		_, err := f.processOne(single)
		return err
	}
	deltas := make([]Delta, 0, n)
	initial := !f.HasSynced()
	for range n {
		deltas = append(deltas, f.take()...)
	}
	defer f.processed(n)
	return batch(deltas, initial)
}

// await waits for a key to pop. It returns ErrFIFOClosed once the queue is closed and empty. The
// caller holds mu.
func (f *DeltaFIFO) await() error {
	for len(f.order) == 0 {
		if f.closed {
			return ErrFIFOClosed
		}
		f.changed.Wait()
	}
	return nil
}

// processOne passes the deltas of the next key to process. The caller holds mu.
func (f *DeltaFIFO) processOne(process PopProcessFunc) (any, error) {
	deltas := f.take()
	initial := !f.HasSynced()
	defer f.processed(1)
	return deltas, process(deltas, initial)
}

// take removes the next key and returns its deltas. The caller holds mu.
func (f *DeltaFIFO) take() Deltas {
	key := f.order[0]
	f.order = f.order[1:]
	deltas := f.items[key]
	delete(f.items, key)
	return deltas
}

// batchable returns the number of keys to pop together. The caller holds mu.
func (f *DeltaFIFO) batchable() int {
	limit := min(len(f.order), maxBatch)
	if f.initial > 0 {
		limit = min(limit, f.initial)
	}
	for n := range limit {
		if len(f.items[f.order[n]]) != 1 {
			return n
		}
	}
	return limit
}

// processed counts processed keys, even if the processing has failed. The caller holds mu.
func (f *DeltaFIFO) processed(n int) {
	f.initial = max(0, f.initial-n)
	f.checkSynced()
}

// HasSynced reports whether the initial population has been processed: the keys of the first Replace, or none
// if another call came first.
func (f *DeltaFIFO) HasSynced() bool { return IsDone(f) }

// HasSyncedChecker is [DeltaFIFO.HasSynced] with a channel.
func (f *DeltaFIFO) HasSyncedChecker() DoneChecker { return f }

// Name returns the queue's name.
func (f *DeltaFIFO) Name() string { return f.name }

// Done returns a channel that is closed once the initial population has been processed.
func (f *DeltaFIFO) Done() <-chan struct{} { return f.synced }

// Close ends the queue. The queued keys can still be popped; then Pop returns [ErrFIFOClosed].
func (f *DeltaFIFO) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.closed = true
	f.changed.Broadcast()
}

// IsClosed reports whether Close was called.
func (f *DeltaFIFO) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.closed
}
