package goexit

// Apart calls f on a goroutine of its own and waits for its end. It returns false if f ended the
// goroutine instead of returning.
func Apart(f func()) (returned bool) {
	ended := make(chan struct{})
	go func() {
		defer func() {
			if p := recover(); p != nil {
				panic(p) // and nobody goes on
			}
			close(ended)
		}()
		f()
		returned = true
	}()
	<-ended
	return returned
}

// Outlive calls work until it returns. If work ends its goroutine, Outlive calls it again on
// another one, to continue. If the caller's own goroutine was ended, it ends after that.
func Outlive(work func()) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			panic(p)
		}
		for !returned {
			returned = Apart(work)
		}
	}()
	work()
	returned = true
}
