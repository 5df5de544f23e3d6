package goexit

// Apart calls f on a goroutine of its own and waits for that to end. It returns
// false where f ended it, instead of returning.
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

// Outlive calls work. Where work ends the goroutine instead of returning, it is
// called again on another one, to go on from where it was, until it returns. The
// caller's goroutine ends after that, if it was ended.
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
