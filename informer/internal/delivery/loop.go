package delivery

// MakeLoop makes the caller of DeliverHere deliver, in place of a goroutine. It is called before Add.
func (r *Registration) MakeLoop() { r.runs = make(chan *Run, 1) }

// DeliverHere delivers on the caller's goroutine.
func (r *Registration) DeliverHere() {
	defer r.endLoop()
	select {
	case run := <-r.runs:
		defer run.Handlers.Done()
		defer r.processor.returned(r)
		tick, stop := r.ticker()
		defer stop()
		r.loop(run.Context, run, tick)
	case <-r.stopCalled:
	}
}

// endLoop ends a registration. If a run is waiting for the loop, endLoop releases the run.
func (r *Registration) endLoop() {
	r.Stop()
	select {
	case run := <-r.runs:
		r.processor.returned(r)
		run.Handlers.Done()
	default:
	}
}
