package reflector

// AskForBookmark is what a sink calls that keeps the objects.
func (r *Reflector) AskForBookmark() { r.askForBookmark() }

// Foreign is what a sink calls that keeps the objects.
func (r *Reflector) Foreign() (dropped uint64, server string) { return r.share.status() }
