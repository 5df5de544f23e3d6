package reflector

// Resume says how a [Reflector] begins whose sink is at a version already.
//
// One that resumes opens a watch from there, which brings what has changed since: a server
// sends that at once. It has come when a bookmark has or, a second after the watch was opened,
// when nothing more comes for a moment: the sink is written a bookmark without a version then.
// Where the version has expired, a full state follows. A server that was set back meanwhile is
// found out as after an outage, by a full state where a watch brings nothing at all for 90 s.
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
