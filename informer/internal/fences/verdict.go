package fences

// Verdict is what the processLoop does with an input of a key.
type Verdict uint8

// The verdicts.
const (
	// Apply says that the input is applied as if there were no fences. The fence of the key has ended, if it
	// had one.
	Apply Verdict = iota
	// Hold says that nothing is stored and nothing delivered.
	Hold
	// Echo says that the store shows the input already: what is stored stays, and nothing is delivered. The
	// input counts as received: the object is not quarantined any more.
	Echo
	// Show says that the object of the answer is put.
	Show
	// Remove says that what the store holds is deleted.
	Remove
)

// Result is what has become of an answer.
type Result uint8

// The results.
const (
	Known    Result = iota // what the answer says, or something later, is in the store already
	Shown                  // put into the store, or deleted from it
	Outside                // the source does not read the object
	Waiting                // not shown: only the source's own version will bring it
	Doubtful               // the outcome of the write is unknown
)
