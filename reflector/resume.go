package reflector

// Resume decides how a [Reflector] begins if its sink already is at a version ([Options].Version).
//
// A reflector that resumes opens a watch from that version, and the server sends the changes since
// then at once. They are complete when the first bookmark arrives or, from a second after the
// opening, when the watch pauses: the sink then gets a bookmark without a version. If the version
// has expired, the reflector reads a full state. It also reads one, as after an outage, if the watch
// brings nothing at all for 90 s: the server may have been restored from a backup meanwhile.
type Resume uint8

// The ways to begin a run.
const (
	// ResumeNever begins with a full state.
	ResumeNever Resume = iota
	// ResumeOfServer resumes if the source is certainly a server, since it can stream.
	ResumeOfServer
	// ResumeUnlessFake resumes unless the source cannot stream. Fakes cannot, and keep no history
	// to resume from.
	ResumeUnlessFake
)

// from reports whether a run begins with a watch from a version.
func (r Resume) from(s Streaming, version string) bool {
	if version == "" || version == "0" {
		return false
	}
	return r == ResumeOfServer && s == StreamingSupported || r == ResumeUnlessFake && s != StreamingUnsupported
}
