package reflector

// Resume says how a [Reflector] begins whose sink is at a version already.
//
// One that resumes opens a watch from there, which brings what has changed since. The watch
// is asked to last for three seconds, since servers send a bookmark before the time is up:
// behind that bookmark nothing is missing. Where none has come after ten seconds, where the
// watch ends without one, or where the version has expired, a full state follows.
type Resume uint8

// The ways to begin.
const (
	// ResumeNever asks for a full state.
	ResumeNever Resume = iota
	// ResumeOfServer resumes where the source is known to be a server, since it streams.
	ResumeOfServer
	// ResumeUnlessFake resumes but where the source is known not to stream, as a fake that
	// keeps no history.
	ResumeUnlessFake
)

// from says whether a watch from a version comes first.
func (r Resume) from(s Streaming, version string) bool {
	if version == "" || version == "0" {
		return false
	}
	return r == ResumeOfServer && s == StreamingSupported || r == ResumeUnlessFake && s != StreamingUnsupported
}
